// The desk as a program in a real terminal (tmux), against a server that answers a calm night: every key's screen, a halt that is raised elsewhere, a resize, and the
// terminal as it was afterwards. The same against a whole platform is acceptance/tui.long.test.ts.
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { subjects } from "../../contracts/src/subjects.ts";
import { temporaryFolder } from "../../testkit/platform.ts";
import { haltOf, haltStatus } from "../../testkit/tui/desk-fixture.ts";
import { type DeskServer, startDeskServer } from "../../testkit/tui/desk-server.ts";
import { startTmux, type Tmux } from "../../testkit/tui/tmux.ts";

const ctl = join(import.meta.dirname, "../../node_modules/.bin/ctl");
const codeEscape = "\u001b";
const inverse = new RegExp(`${codeEscape}\\[([0-9]+;)*7m`);
const folder = temporaryFolder("tui");
let tmux: Tmux;
let server: DeskServer;

beforeAll(async () => {
  mkdirSync(join(folder, "home"));
  server = await startDeskServer(subjects.haltRequested.name);
  tmux = await startTmux(folder);
}, 120_000);
afterAll(async () => {
  await tmux?.end();
  await server?.close();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

it("27.7: shows every screen in a terminal, a halt that was raised elsewhere, and leaves the terminal as it was", {
  timeout: 120_000,
}, async () => {
  const environment = {
    PATH: process.env["PATH"] ?? "",
    HOME: join(folder, "home"),
    PORTCULLIS_URL: server.url,
    PORTCULLIS_TOKEN: "t",
  };
  const pane = await tmux.pane({ columns: 80, rows: 24 }, environment);
  const before = join(folder, "before");
  const after = join(folder, "after");
  await pane.type(`stty -a > ${before}; ${ctl} tui; echo ended $?; stty -a > ${after}`);
  await pane.press("Enter");
  // The first run may build the command line first.
  const header = /^Portcullis {2}PAPER {2}operator:duty {2}READ-ONLY {2}live \d+ s$/;
  await pane.until("the desk is live", ([first = ""]) => header.test(first), 90_000);
  // Its lists are read one after the other.
  await pane.until("halts are read", (so) => so[1] === "Nothing is halted; nothing denies new risk.");
  const titles = { p: "POSITIONS", o: "ORDERS", f: "FUNDS", r: "RISK", h: "HALTS" };
  for (const [key, title] of Object.entries(titles)) {
    await pane.press(key);
    const lines = await pane.until(`${key} shows ${title}`, (so) => so[2] === title);
    expect(lines[1]).toBe("Nothing is halted; nothing denies new risk.");
    expect(lines[22]).toMatch(/q quit/);
    expect(lines[23]).toBe("");
  }
  server.setHalts(haltStatus([haltOf({ reason: "news" })]));
  for (const [key, title] of Object.entries(titles)) {
    await pane.press(key);
    const halted = (so: readonly string[]): boolean => so[2] === title && /^HALTED firm: news/.test(so[1] ?? "");
    await pane.until(`${title} shows the halt`, halted);
    const [, haltLine = ""] = (await pane.painted()).split("\n");
    expect(haltLine.slice(0, haltLine.indexOf("HALTED"))).toMatch(inverse);
  }
  await pane.resize(120, 30);
  await pane.until("it fills the larger terminal", (so) => /q quit/.test(so[28] ?? "") && so[2] === "HALTS");
  await pane.resize(50, 10);
  await pane.until("it says that the terminal is too small", (so) => so.join(" ").includes("ctl tui needs 60x15"));
  await pane.resize(80, 24);
  await pane.until("it is back", (so) => so[2] === "HALTS" && /q quit/.test(so[22] ?? ""));
  await pane.press("q");
  await pane.until("it ended", (so) => so.includes("ended 0"));
  expect(readFileSync(after, "utf8")).toBe(readFileSync(before, "utf8"));
  expect(pane.output()).not.toContain(`${codeEscape}[2J`);
  expect(pane.output()).not.toContain(`${codeEscape}[3J`);
});

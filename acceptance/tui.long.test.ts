// `ctl tui` in a terminal on a whole platform: every key at two sizes, halts that are raised elsewhere, two people who resume, a gateway that is killed, a login that
// is revoked, a minute of updates, every way out, and a stream that is cut fifty times. `TUI_CAPTURES=docs` writes what stood there into docs/tui.md.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually, pause } from "../testkit/platform.ts";
import { startTcpProxy } from "../testkit/tui/tcp-proxy.ts";
import {
  ctlPath,
  isLive,
  openTui,
  startTerminalPlatform,
  type TerminalPlatform,
} from "../testkit/tui/terminal-platform.ts";
import type { Pane } from "../testkit/tui/tmux.ts";
import { prng } from "../testkit/virtual/prng.ts";

const pagePath = join(import.meta.dirname, "../docs/tui.md");
const codeEscape = "\u001b";
const titles = { p: "POSITIONS", o: "ORDERS", f: "FUNDS", r: "RISK", h: "HALTS" } as const;
const keysOfScreens = Object.keys(titles) as (keyof typeof titles)[];
const captures = new Map<string, string>();

let terminal: TerminalPlatform;

beforeAll(async () => {
  terminal = await startTerminalPlatform({
    funds: "as configured",
    environment: { PORTCULLIS_PAPER_HISTORY: "false" },
  });
}, 300_000);
afterAll(async () => {
  if (process.env["TUI_CAPTURES"] === "docs") writeCaptures();
  await terminal?.end();
}, 120_000);

const block = (name: string) => new RegExp(`<!-- capture: ${name} -->\n\`\`\`\n[^]*?\n\`\`\``);

function writeCaptures(): void {
  let page = readFileSync(pagePath, "utf8");
  for (const [name, text] of captures) {
    page = page.replace(block(name), () => `<!-- capture: ${name} -->\n\`\`\`\n${text}\n\`\`\``);
  }
  writeFileSync(pagePath, page);
}

function keep(name: string, lines: readonly string[]): void {
  captures.set(name, lines.join("\n").trimEnd());
  expect(readFileSync(pagePath, "utf8"), `docs/tui.md has no place for the capture "${name}"`).toMatch(block(name));
}

const halted =
  (scope: string) =>
  (lines: readonly string[]): boolean =>
    (lines[1] ?? "").startsWith(`HALTED ${scope}:`);

/** Before the first answers are there. */
const isLoading = (lines: readonly string[]): boolean =>
  /not read yet/.test(lines[1] ?? "") || lines.some((line) => /^ *Loading\.$| loading$/.test(line));

async function shows(pane: Pane, key: keyof typeof titles): Promise<readonly string[]> {
  await pane.press(key);
  return pane.until(`${key} shows ${titles[key]}`, (lines) => lines[2] === titles[key] && !isLoading(lines));
}

describe("ctl tui in a terminal", { timeout: 600_000 }, () => {
  test.each([
    [80, 24],
    [200, 60],
  ])("shows every key's screen at %ix%i", async (columns, rows) => {
    const pane = await terminal.pane(columns, rows);
    await openTui(pane);
    // Strategies that have just begun hold nothing yet.
    const isThere = (lines: readonly string[]): boolean =>
      !isLoading(lines) && lines.some((line) => /^> .* %/.test(line));
    await pane.until("there are positions", isThere, 60_000);
    for (const key of keysOfScreens) {
      const lines = await shows(pane, key);
      expect(lines[0]).toMatch(/^Portcullis {2}PAPER {2}operator:duty {2}READ-ONLY {2}(live|stale) \d+ s$/);
      expect(lines[rows - 2]).toMatch(/q quit/);
      expect(lines[rows - 1]).toBe("");
      // Nothing is cut, neither a symbol nor a sentence.
      expect(lines.filter((line) => line.includes("…"))).toEqual([]);
      keep(`${titles[key].toLowerCase()} ${columns}x${rows}`, lines);
      if (key === "r" || key === "h") continue;
      await pane.press("Enter");
      const detail = await pane.until("the detail is there", (so) => / > \w/.test(so[2] ?? "") && so[3] !== "Loading.");
      keep(`${titles[key].toLowerCase()} detail ${columns}x${rows}`, detail);
      await pane.press("Escape");
      await pane.until("Esc goes back", (so) => so[2] === titles[key]);
    }
    await pane.press("?");
    keep(`help ${columns}x${rows}`, await pane.until("the keys are listed", (so) => so.includes("KEYS")));
    await pane.press("q");
    await pane.until("it ended", (so) => so.some((line) => /^\$/.test(line)));
  });

  test("a resize is drawn whole, and too small a terminal says so", async () => {
    const pane = await terminal.pane(80, 24);
    await openTui(pane);
    for (const [columns, rows] of [
      [200, 60],
      [100, 30],
      [60, 15],
      [80, 24],
    ] as const) {
      await pane.resize(columns, rows);
      const lines = await pane.until(
        `${columns}x${rows} is filled`,
        (so) => /^Portcullis/.test(so[0] ?? "") && /p o f r h/.test(so[rows - 2] ?? ""),
      );
      expect(lines.filter((line) => line.startsWith("Portcullis"))).toHaveLength(1);
      expect(lines.filter((line) => line === "POSITIONS")).toHaveLength(1);
    }
    await pane.resize(50, 10);
    await pane.until("it says so", (so) => so.join(" ").includes("ctl tui needs 60x15"));
    await pane.press("q");
  });

  test("60 s at 10 updates a second never clear the terminal", async () => {
    const pane = await terminal.pane(80, 24);
    await openTui(pane, `${ctlPath} tui --ascii`);
    await shows(pane, "o");
    const client = await terminal.clientOf("duty");
    const until = Date.now() + 60_000;
    let sent = 0;
    const sending = new Set<Promise<unknown>>();
    while (Date.now() < until) {
      sent += 1;
      const order = {
        idempotencyKey: `tui-${sent}`,
        orderId: `tui-${sent}`,
        fundId: "alpha",
        strategyId: "alpha-momentum",
        symbol: "AAPL",
        side: "BUY",
        quantity: "1",
        orderType: "LIMIT",
        limitPrice: "1",
        tif: "DAY",
        broker: "paper",
        assetClass: "EQUITY",
        actor: "test",
      } as const;
      // Refused ones are updates as well. Nobody waits for an answer: a slow one would make it fewer than ten a second.
      sending.add(client.submitOrder(order).catch(() => undefined));
      await pause(Math.max(0, until - 60_000 + sent * 100 - Date.now()));
    }
    await Promise.all(sending);
    await pane.until("it is live at the end", isLive);
    expect(sent).toBeGreaterThan(550);
    expect(pane.output().length).toBeGreaterThan(10_000);
    expect(pane.output()).not.toContain(`${codeEscape}[2J`);
    expect(pane.output()).not.toContain(`${codeEscape}[3J`);
    await pane.press("q");
  });

  test.each(["q", "Ctrl-C", "SIGTERM", "SIGHUP", "a crash", "Ctrl-Z with fg"])(
    "leaves the terminal as it was: %s",
    async (way) => {
      const crash = join(terminal.folder, "crash.mjs");
      writeFileSync(crash, 'process.on("SIGUSR2", () => { throw new Error("crashed by the test"); });\n');
      const pane = await terminal.pane(80, 24, way === "a crash" ? { NODE_OPTIONS: `--import=${crash}` } : {});
      const file = (name: string): string => join(terminal.folder, `stty-${name}`);
      const stty = async (name: string): Promise<string> => {
        writeFileSync(file(name), "");
        await pane.type(`stty -a > ${file(name)}`);
        await pane.press("Enter");
        await eventually("stty has answered", () => readFileSync(file(name), "utf8").includes("echoke"));
        return readFileSync(file(name), "utf8");
      };
      const before = await stty("before");
      // The shell goes on with the rest of its line when the desk is stopped, and not only when it ended.
      await openTui(pane, way === "Ctrl-Z with fg" ? `${ctlPath} tui` : `${ctlPath} tui; echo left`);
      const kill = async (signal: NodeJS.Signals): Promise<void> => void process.kill(await pane.runningPid(), signal);
      if (way === "q") await pane.press("q");
      else if (way === "Ctrl-C") await pane.press("C-c");
      else if (way === "SIGTERM" || way === "SIGHUP") await kill(way);
      else if (way === "a crash") await kill("SIGUSR2");
      else {
        await pane.press("C-z");
        await pane.until("it is stopped", (lines) => lines.some((line) => /Stopped|Suspended/.test(line)));
        expect(await stty("stopped")).toBe(before);
        await pane.type("fg; echo left");
        await pane.press("Enter");
        await pane.until("it is back", isLive, 60_000);
        await pane.press("q");
      }
      await pane.until("the shell is back", (lines) => lines.includes("left"));
      expect(await stty("after")).toBe(before);
      expect(await pane.state()).toEqual({ alternate: false, cursor: true });
      if (way === "a crash") expect((await pane.lines()).join("\n")).toContain("crashed by the test");
    },
  );

  test("a gateway that is killed: reconnecting, then live, and nothing is lost", async () => {
    const pane = await terminal.pane(200, 60);
    await openTui(pane);
    await shows(pane, "o");
    const { gateway = 0 } = terminal.platform.runFile().processes;
    process.kill(gateway, "SIGKILL");
    const away = await pane.until("it is reconnecting", ([first = ""]) => /\b(reconnecting|stale)\b/.test(first));
    expect(away[2]).toMatch(/^ORDERS {2}NOT FRESH/);
    // What it showed stays.
    expect(away[4]).toMatch(/^> /);
    await pane.until("it is live again", isLive, 120_000);
    await pane.press("q");
  });

  test("a halt that is raised elsewhere is on every screen within two seconds", async () => {
    const pane = await terminal.pane(80, 24);
    await openTui(pane);
    const relief = await terminal.clientOf("relief");
    const tookMs: number[] = [];
    const ids = ["alpha-meanrev", "alpha-momentum", "beta-trend", "gamma-income", "beta"];
    for (const [at, key] of keysOfScreens.entries()) {
      await shows(pane, key);
      const id = ids[at] ?? "";
      await relief.requestHalt({ id, reason: "seen elsewhere", confirmation: "HALT" });
      const from = Date.now();
      const lines = await pane.until(`${key} shows it`, halted(id === "beta" ? "fund beta" : `strategy ${id}`));
      tookMs.push(Date.now() - from);
      expect(lines[2]).toBe(titles[key]);
      const [, line = ""] = (await pane.painted()).split("\n");
      expect(line.slice(0, line.indexOf("HALTED"))).toMatch(new RegExp(`${codeEscape}\\[([0-9]+;)*7m`));
    }
    process.stdout.write(`a halt was shown after ${tookMs.join(", ")} ms\n`);
    expect(tookMs.sort((one, other) => one - other)[2]).toBeLessThan(2_000);
    keep("halted 80x24", await shows(pane, "p"));
    await pane.press("q");
  });

  test("two people resume everything in two panes", async () => {
    const [duty, relief] = [await terminal.pane(80, 24), await terminal.pane(80, 24)];
    await openTui(duty);
    await openTui(relief, `${ctlPath} tui --profile relief`);
    await shows(duty, "h");
    await duty.press("H");
    await duty.until("it asks what", (lines) => lines.some((line) => line.startsWith("> EVERYTHING")));
    await duty.press("Enter");
    await duty.type("fills look odd");
    await duty.press("Enter");
    keep(
      "halt dialog 80x24",
      await duty.until("it asks for the word", (so) => so.some((line) => line.startsWith("Type HALT"))),
    );
    await duty.type("HALT");
    await duty.press("Enter");
    keep(
      "halt outcome 80x24",
      await duty.until("it is proven", (so) => so.some((line) => /^ +NOTIFIED +yes/.test(line)), 60_000),
    );
    await duty.press("Escape");
    await relief.until("the other sees it", halted("firm"), 10_000);
    await duty.press("u");
    await duty.type("fills are right again");
    await duty.press("Enter");
    await duty.until("it is unlocked", ([first = ""]) => first.includes("UNLOCKED"));
    await duty.press("R");
    await duty.until("it asks what", (lines) => lines.some((line) => line.startsWith("> EVERYTHING")));
    await duty.press("Enter");
    await duty.press("Enter");
    await duty.until("it asks for the word", (so) => so.some((line) => line.startsWith("Type RESUME")));
    await duty.type("RESUME");
    await duty.press("Enter");
    await duty.until("it asks for the code", (so) => so.some((line) => line.startsWith("Code of your authenticator")));
    await duty.type(terminal.codeOf("duty"));
    await duty.press("Enter");
    await shows(relief, "h");
    const waits = (so: readonly string[]): boolean => so.some((line) => line.startsWith("RESUME REQUEST"));
    keep("resume request 80x24", await relief.until("the request waits on the other pane", waits, 30_000));
    await relief.press("u");
    await relief.type("I agree");
    await relief.press("Enter");
    await relief.until("it is unlocked", ([first = ""]) => first.includes("UNLOCKED"));
    await relief.press("c");
    await relief.until("it asks for the word", (so) => so.some((line) => line.startsWith("Type RESUME")));
    await relief.type("RESUME");
    await relief.press("Enter");
    await relief.until("it asks for the code", (so) =>
      so.some((line) => line.startsWith("Code of your authenticator")),
    );
    await relief.type(terminal.codeOf("relief"));
    await relief.press("Enter");
    keep(
      "resume outcome 80x24",
      await relief.until("it is lifted", (so) => so.some((line) => /LIFTED \d+ halts/.test(line)), 30_000),
    );
    await duty.press("Escape");
    await duty.until("the first sees that nothing is halted", (so) => so.includes("  Nothing is halted."), 30_000);
    await duty.press("q");
    await relief.press("Escape");
    await relief.press("q");
  });

  test("a stream that is cut fifty times leaves the lists as ctl has them", async () => {
    const { platform } = terminal;
    const proxy = await startTcpProxy(platform.runFile().addresses["gateway"] ?? "");
    const random = prng(27);
    try {
      const pane = await terminal.pane(200, 60, {
        PORTCULLIS_URL: proxy.url,
        PORTCULLIS_TOKEN: await terminal.tokenOf("duty"),
      });
      await openTui(pane);
      for (let cut = 0; cut < 50; cut += 1) {
        await pause(random.below(1_200));
        proxy.cut();
      }
      // Nothing moves any more: what is compared stands still.
      const duty = await terminal.clientOf("duty");
      await duty.requestHalt({ reason: "compare", confirmation: "HALT" });
      await pane.until("the halt is shown", halted("firm"), 60_000);
      await eventually(
        "every order has ended",
        async () => (await duty.listOrders({ open: true })).length === 0,
        60_000,
      );
      await pane.until("it is live again", isLive, 60_000);
      // tidy: sleeps because orders that were sent twice would be listed by then
      await pause(3_000);
      const orders = JSON.parse((await terminal.ctl(["oms", "orders", "list", "--json"])).output) as readonly {
        order: { order_id: string };
        state: string;
      }[];
      const shown = (await shows(pane, "o")).slice(4, 50).map((line) => line.slice(2).trim().split(/ {2,}/));
      const newest = orders.slice(0, shown.length);
      expect(shown.map((cells) => cells[1])).toEqual(newest.map(({ order }) => order.order_id));
      expect(shown.map((cells) => cells.join(" "))).toEqual(
        newest.map(({ state }) => expect.stringContaining(` ${state}`)),
      );
      const held = JSON.parse((await terminal.ctl(["ls", "--json"])).output) as readonly {
        symbol: string;
        strategy_id: string;
        quantity: string;
      }[];
      const rows = (await shows(pane, "p"))
        .slice(4, 4 + held.length)
        .map((line) => line.slice(2).trim().split(/ {2,}/).slice(1, 4));
      expect(rows.toSorted()).toEqual(
        held.map(({ symbol, strategy_id, quantity }) => [symbol, strategy_id, quantity]).toSorted(),
      );
      await pane.press("q");
    } finally {
      await proxy.close();
    }
  });

  test("a login that is revoked: it says so and keeps what it showed, marked", async () => {
    const pane = await terminal.pane(80, 24);
    await openTui(pane, `${ctlPath} tui --profile relief`);
    const duty = await terminal.clientOf("duty");
    await duty.revokeSessions({ actor: "operator:relief", reason: "left the house" });
    const lines = await pane.until("it says so", (so) => (so[1] ?? "").startsWith("LOGIN OVER"), 60_000);
    expect(lines[0]).toMatch(/\boffline \d+ s$/);
    expect(lines[2]).toMatch(/^POSITIONS {2}NOT FRESH \(offline\)/);
    expect(lines[4]).toMatch(/^> /);
    keep("login over 80x24", lines);
    await pane.press("q");
  });
});

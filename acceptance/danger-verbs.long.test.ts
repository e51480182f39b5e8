// Each danger verb as a person types it on a terminal: the right word does it, a wrong word is sent, refused, recorded and ends with 3, Ctrl-C at the prompt sends
// nothing, and without a terminal nothing is asked.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Client } from "../edges/client/src/types.ts";
import { eventually } from "../testkit/platform.ts";
import { ctlPath, startTerminalPlatform, type TerminalPlatform } from "../testkit/tui/terminal-platform.ts";
import type { Pane } from "../testkit/tui/tmux.ts";

let terminal: TerminalPlatform;
let duty: Client;

beforeAll(async () => {
  terminal = await startTerminalPlatform({});
  duty = await terminal.clientOf("duty");
}, 300_000);
afterAll(async () => terminal?.end(), 120_000);

/** What the audit log has of this person, as far as it has come. */
async function attempts(): Promise<number> {
  let count = 0;
  for (const subjectId of ["alpha", "firm"]) {
    for await (const page of duty.pages("getAuditTrail", { subjectId, countMax: 1_000 })) {
      count += page.filter(({ actor, action }) => actor === "operator:duty" && action === "operator.attempted").length;
    }
  }
  return count;
}

let asked = 0;
/** Types the command, waits for its question, answers it and gives the exit code. */
async function answered(pane: Pane, words: string, answer: string): Promise<number> {
  asked += 1;
  const [begin, end] = [`begin-${asked}`, `end-${asked}`];
  await pane.type(`clear; echo ${begin}; ${ctlPath} ${words}; echo ${end} $?`);
  await pane.press("Enter");
  const isAsked = (lines: readonly string[]): boolean =>
    lines.includes(begin) &&
    lines.slice(lines.lastIndexOf(begin)).some((line) => /^Type [A-Z]+ to continue:$/.test(line));
  await pane.until("it asks for the word", isAsked, 60_000);
  if (answer === "Ctrl-C") await pane.press("C-c");
  else {
    await pane.type(answer);
    await pane.press("Enter");
  }
  const ended = new RegExp(`^${end} (\\d+)$`);
  const lines = await pane.until("it ended", (so) => so.some((line) => ended.test(line)), 120_000);
  return Number(lines.map((line) => ended.exec(line)?.[1]).find((code) => code !== undefined));
}

describe("danger verbs on a terminal", { timeout: 600_000 }, () => {
  test.each([
    ["cmd halt alpha --reason drill", "HALT", async () => (await duty.getHaltStatus()).halts.length === 1],
    ["cmd cancel-all --reason drill", "CANCEL", undefined],
    ["cmd resume alpha --reason drill", "RESUME", async () => (await duty.getHaltStatus()).halts.length === 0],
    ["cmd flatten-paper --reason drill", "FLATTEN", async () => (await duty.getPositions()).length === 0],
  ] as const)("%s", async (words, word, isDone) => {
    const pane = await terminal.pane(120, 50);
    const state = async (): Promise<string> =>
      JSON.stringify([
        (await duty.getHaltStatus()).halts,
        (await duty.getPositions()).map(({ symbol, quantity }) => [symbol, quantity]),
      ]);
    const [before, recorded] = [await state(), await attempts()];
    expect(await answered(pane, words, "WRONG")).toBe(3);
    await eventually("the attempt is an entry", async () => (await attempts()) === recorded + 1);
    expect(await state()).toBe(before);
    expect(await answered(pane, words, "Ctrl-C")).toBe(130);
    expect(await state()).toBe(before);
    // Nothing was sent, so nothing was recorded.
    expect(await attempts()).toBe(recorded + 1);
    const { exit, output } = await terminal.ctl(words.split(" "));
    expect([exit, output]).toEqual([3, expect.stringContaining(`--confirm ${word}`)]);
    expect(await state()).toBe(before);
    const fresh = await terminal.pane(120, 50);
    expect(await answered(fresh, words, word)).toBe(0);
    if (isDone !== undefined) await eventually("it is done", isDone, 60_000);
  });
});

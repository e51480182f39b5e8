// What may be run once more and what never may. Each kind of failure is made by vitest itself where it has a form of its own.
import { describe, expect, test } from "vitest";
import { isNeverRepeated, isWaitOrConnection, mayRepeat } from "./repeats.js";

const failed = (file: string, name: string, ...failures: { name: string; message: string; code?: string }[]) => ({
  file,
  tests: [{ name, failures }],
});
const wait = { name: "Error", message: "not within 60000 ms: the desk shows it" };
const real = () => true;

describe("a failure is one of waiting or of a connection", () => {
  test.each([
    ["a test that took too long", { name: "Error", message: "Test timed out in 60000ms.\nIf this is a long-running" }],
    ["a hook that took too long", { name: "Error", message: "Hook timed out in 60000ms.\nIf this is" }],
    ["eventually and within", wait],
    ["a suite's own waiting", { name: "Error", message: "waited 12000 ms in vain: the cursor moved" }],
    ["a platform that was given up", { name: "Error", message: "no banner within 120 s:\nstarting" }],
    ["a connection that was reset", { name: "Error", message: "read ECONNRESET", code: "ECONNRESET" }],
    ["nobody listens", { name: "AggregateError", message: "", code: "ECONNREFUSED" }],
    ["a socket that hung up", { name: "Error", message: "socket hang up", code: "ECONNRESET" }],
    [
      "fetch, which hides it in its cause",
      { name: "TypeError", message: "fetch failed", cause: { name: "Error", message: "", code: "ECONNRESET" } },
    ],
    [
      "a poll, whose last assertion is only where it stood",
      {
        name: "AssertionError",
        message: "expected 1 to be 2",
        cause: { name: "Error", message: "Matcher did not succeed in time." },
      },
    ],
  ])("%s", (_name, failure) => {
    expect(isWaitOrConnection(failure)).toBe(true);
  });

  test.each([
    ["a wrong value", { name: "AssertionError", message: "expected 3 to be 4" }],
    [
      "a wrong value that speaks of a connection",
      { name: "AssertionError", message: "expected 'read ECONNRESET' to be ''" },
    ],
    ["a sentence that speaks of time", { name: "Error", message: "the lease was not renewed, it timed out" }],
    ["a program's own error", { name: "TypeError", message: "x is undefined" }],
  ])("not %s", (_name, failure) => {
    expect(isWaitOrConnection(failure)).toBe(false);
  });

  test("as vitest itself reports a poll that ended", async () => {
    const thrown = await expect
      .poll(() => 1, { timeout: 1, interval: 1 })
      .toBe(2)
      .catch((error: Error) => error);
    expect(thrown).toMatchObject({ name: "AssertionError", cause: { message: "Matcher did not succeed in time." } });
  });
});

describe("a file may be run once more", () => {
  test("when it uses real time and all that failed was waiting", () => {
    expect(mayRepeat(failed("edges/tui/tmux.test.ts", "draws", wait), real)).toBe(true);
    expect(mayRepeat(failed("edges/tui/tmux.test.ts", "draws", wait, wait), real)).toBe(true);
  });

  test("never without real time: a race there is a race of ours", () => {
    expect(mayRepeat(failed("edges/tui/tmux.test.ts", "draws", wait), () => false)).toBe(false);
  });

  test("never when one of its failures is about a value", () => {
    const wrong = { name: "AssertionError", message: "expected 3 to be 4" };
    expect(mayRepeat(failed("edges/tui/tmux.test.ts", "draws", wait, wrong), real)).toBe(false);
    expect(mayRepeat(failed("edges/tui/tmux.test.ts", "draws"), real)).toBe(false);
  });

  test("never when it is about money, halts or audit, by its path or by a test's name", () => {
    expect(mayRepeat(failed("services/operations/halts/model.test.ts", "draws", wait), real)).toBe(false);
    expect(mayRepeat(failed("edges/tui/tmux.test.ts", "shows the halt of the firm", wait), real)).toBe(false);
    expect(isNeverRepeated("adapters/postgres/audit/audit-log.test.ts")).toBe(true);
    expect(isNeverRepeated("edges/gateway/stream/stream-hub.test.ts > defaults and feeds")).toBe(false);
  });
});

// Commands that pages show and copy: a real shell reads each value as one word, whatever stands in it.
import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { shell } from "./shell.ts";

/** What a shell makes of the command's words. */
function wordsOf(command: string): readonly string[] {
  const printed = execFileSync("sh", ["-c", `ctl() { printf '%s\\0' "$@"; }; ${command}`], { encoding: "utf8" });
  return printed.split("\0").slice(0, -1);
}

describe("a command for a shell", () => {
  it("leaves ordinary words as they are, and a list takes no room when it is empty", () => {
    expect(shell`ctl why ${"order-1"}`).toBe("ctl why order-1");
    expect(shell`ctl riskengine blocks list ${[]} --open`).toBe("ctl riskengine blocks list --open");
    expect(shell`ctl riskengine blocks list ${["--fund-id", "alpha"]}`).toBe(
      "ctl riskengine blocks list --fund-id alpha",
    );
  });

  it.each([
    "alpha; touch /tmp/owned #",
    "alpha\ntouch /tmp/owned\n",
    "$(id)",
    "`id`",
    "it's",
    "BRK B",
    "",
    "--confirm\u202e",
    "\\",
    "*",
    "~root",
    "a=b c",
  ])("keeps %j one word", (value) => {
    expect(wordsOf(shell`ctl why ${value} --json`)).toEqual(["why", value, "--json"]);
  });

  it("keeps any text one word", () => {
    const text = fc.string({ unit: "grapheme" }).filter((value) => !value.includes("\0"));
    fc.assert(
      fc.property(fc.array(text, { maxLength: 4 }), text, (list, value) => {
        expect(wordsOf(shell`ctl a ${list} ${value} b`)).toEqual(["a", ...list, value, "b"]);
      }),
      { numRuns: 40 },
    );
  });
});

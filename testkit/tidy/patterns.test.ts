// No pattern of the product costs more than time in proportion to the length of what it reads: strangers choose how long a path, a header or a name is.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { redactText } from "../../adapters/log/log-redaction.ts";
import { byFloor } from "../full-count.ts";
import { processorMs } from "../processor-ms.ts";
import { mayHavePattern, patternsOf, slowness } from "./patterns.ts";
import { parseSource } from "./source.ts";

const root = join(import.meta.dirname, "..", "..");
const rooms = ["contracts/src", "core", "ports", "adapters", "services", "edges", "supervisor", "compose", "verifier"];

/** Patterns that never see a text from outside, with the reason. */
const insideOnly: Readonly<Record<string, string>> = {
  "adapters/postgres/migrations/0056-token-funds.ts": "bodies of functions of the migration before",
  "adapters/postgres/migrations/0062-token-logins.ts": "bodies of functions of the migration before",
  "core/state/wording.ts": "digits of an amount that was computed here, forty at most",
  "edges/words/figures.ts": "digits of one figure",
  "edges/ctl/failure.ts": "the error codes of the runtime",
};

function sources(folder: string): readonly string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return entry.name === "node_modules" || entry.name === "generated" ? [] : sources(path);
    return /\.tsx?$/.test(entry.name) && !/\.test\.tsx?$/.test(entry.name) ? [path] : [];
  });
}

const patternsIn = (path: string, text: string) => patternsOf(parseSource(path, text));

describe("patterns that can see a text from outside", () => {
  it("take eight times as long for eight times the text, not sixty-four times", { timeout: 240_000 }, () => {
    const slow = rooms
      .flatMap(sources)
      .filter((path) => insideOnly[path] === undefined)
      .map((path) => [path, readFileSync(join(root, path), "utf8")] as const)
      // The second floor parses all of them.
      .filter(([, text]) => byFloor({ first: mayHavePattern(text), later: true }))
      .flatMap(([path, text]) => patternsIn(path, text))
      .flatMap((pattern) => slowness(pattern) ?? [])
      .map(
        ({ path, line, expression, pump }) =>
          `${path}:${line} ${expression} on ${JSON.stringify(pump)} again and again`,
      );
    expect(slow).toEqual([]);
  });

  it.each([
    ["one in a call", "text.replace(/a+/, '');", true],
    ["one on a line of its own", "const a =\n  /^b$/u;", true],
    ["one that is returned", "return /c/.test(d);", true],
    ["a division", "const half = whole / 2;", false],
    ["an address in a comment", "// see /v1/funds/alpha\nconst a = 1;", false],
  ])("a quick look at a file sees %s", (_what, text, may) => {
    expect(mayHavePattern(text)).toBe(may);
  });

  it("the measurement finds planted ones, and lets plain ones pass", () => {
    const planted = (text: string) =>
      patternsIn("core/planted.ts", `export const planted = ${text};`).flatMap((one) => slowness(one) ?? []);
    expect(planted(String.raw`/\/+$/`)).toHaveLength(1);
    expect(planted(String.raw`/(?<![a-z0-9])((?:postgres|nats|tls):\/\/)[^\s"'<>]*@/gi`)).toHaveLength(1);
    expect(planted("/^a*a*b$/")).toHaveLength(1);
    expect(planted("/^[a-z]+$/")).toEqual([]);
  });

  it("a hostile line of any length is combed for credentials in a bounded time", () => {
    for (const pump of [
      '"a":\'',
      "tls://",
      "nats://x",
      '"password":"',
      "bearer ",
      'a="',
      "-----BEGIN PRIVATE KEY-----",
    ]) {
      const line = pump.repeat(100_000);
      expect(
        processorMs(() => redactText(line)),
        pump,
      ).toBeLessThan(1_000);
    }
  });
});

// The scan accepts exactly what the encoder writes. The judge is the long way round: decode, parse, encode again, compare the bytes.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { inputCount } from "../../../testkit/full-count.ts";
import { canonicalJson, decodeUtf8, utf8 } from "./canonical-json.ts";
import { isCanonicalJson } from "./canonical-scan.ts";

const seed = 20_261_115;

interface Golden {
  readonly canonical: readonly { name: string; canonical: string }[];
  readonly not_canonical: readonly { name: string; hex: string }[];
}
const golden = JSON.parse(readFileSync(new URL("../golden/rfc8785.json", import.meta.url), "utf8")) as Golden;

function isCanonicalTheLongWay(bytes: Uint8Array): boolean {
  try {
    const text = canonicalJson(JSON.parse(decodeUtf8(bytes)));
    return Buffer.compare(utf8(text), bytes) === 0;
  } catch {
    // Not UTF-8, not JSON, or a value that the encoder refuses: in no case canonical.
    return false;
  }
}

/** mulberry32: small, seeded, the same everywhere. */
function prng(from: number): (below: number) => number {
  let state = from;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const letters = [
  "a",
  "b",
  "!",
  " ",
  '"',
  "\\",
  "\n",
  "\u0001",
  "\u001f",
  "\u007f",
  "é",
  "€",
  "\ue000",
  "\uffff",
  "\u{10000}",
  "\u{10ffff}",
];

function randomText(roll: (below: number) => number): string {
  return Array.from({ length: roll(7) }, () => letters[roll(letters.length)]).join("");
}

function randomValue(roll: (below: number) => number, levels: number): unknown {
  const kind = roll(levels > 0 ? 9 : 7);
  if (kind === 0) return null;
  if (kind === 1) return roll(2) === 0;
  if (kind === 2) return roll(1_000) - 500;
  if (kind === 3) return Number.MAX_SAFE_INTEGER - roll(2);
  if (kind < 6) return randomText(roll);
  if (kind === 6) return (roll(2_000_000) - 1_000_000) * 10 ** (roll(40) - 30);
  const length = roll(5);
  if (kind === 7) return Array.from({ length }, () => randomValue(roll, levels - 1));
  return Object.fromEntries(Array.from({ length }, () => [randomText(roll), randomValue(roll, levels - 1)]));
}

describe(`canonical scan (seed ${seed})`, () => {
  it.each(golden.canonical)("accepts RFC 8785, $name", ({ canonical }) => {
    expect(isCanonicalJson(utf8(canonical))).toBe(true);
  });

  it.each(golden.not_canonical)("A24 rejects $name", ({ hex }) => {
    const bytes = Uint8Array.from(Buffer.from(hex, "hex"));
    expect(isCanonicalJson(bytes)).toBe(false);
    expect(isCanonicalTheLongWay(bytes)).toBe(false);
  });

  it("accepts whatever the encoder writes", () => {
    const roll = prng(seed);
    for (let round = 0; round < inputCount(2_000); round += 1) {
      const text = canonicalJson(randomValue(roll, 4));
      if (!isCanonicalJson(utf8(text))) expect.fail(text);
    }
  });

  it("A24 judges every text with one byte changed, added or taken away as the long way does", () => {
    const roll = prng(seed + 1);
    let rejected = 0;
    let accepted = 0;
    for (let round = 0; round < 150; round += 1) {
      const bytes = utf8(canonicalJson(randomValue(roll, 3)));
      for (let at = 0; at < bytes.length; at += 1) {
        const changed = Uint8Array.from(bytes);
        changed[at] = roll(256);
        const longer = Uint8Array.from([
          ...bytes.subarray(0, at),
          bytes[roll(bytes.length)] ?? 0,
          ...bytes.subarray(at),
        ]);
        const shorter = Uint8Array.from([...bytes.subarray(0, at), ...bytes.subarray(at + 1)]);
        for (const mutated of [changed, longer, shorter]) {
          const expected = isCanonicalTheLongWay(mutated);
          if (isCanonicalJson(mutated) !== expected) expect.fail(`${Buffer.from(mutated).toString("hex")} ${expected}`);
          if (expected) accepted += 1;
          else rejected += 1;
        }
      }
    }
    expect(rejected).toBeGreaterThan(4_000);
    expect(accepted).toBeGreaterThan(300);
  });

  it("A24 judges every pair of keys as the long way does", () => {
    const keys = [
      "",
      "a",
      "ab",
      "!",
      "\n",
      "\r",
      "\u001f",
      '"',
      "\\",
      "\\n",
      "é",
      "\ue000",
      "\uffff",
      "\u{10000}",
      "\u{10ffff}",
      "a\n",
      "a ",
      "a\u{10000}",
      "a\uffff",
    ];
    for (const left of keys) {
      for (const right of keys) {
        const bytes = utf8(`{${JSON.stringify(left)}:1,${JSON.stringify(right)}:2}`);
        expect(isCanonicalJson(bytes), `${left} ${right}`).toBe(left < right);
      }
    }
  });

  it("takes every character, and none that UTF-8 does not have", () => {
    for (let code = 0x20; code <= 0x10ffff; code += code < 0x900 ? 1 : 251) {
      if (code === 0x22 || code === 0x5c || (code >= 0xd800 && code <= 0xdfff)) continue;
      if (!isCanonicalJson(utf8(`"${String.fromCodePoint(code)}"`))) expect.fail(code.toString(16));
    }
    for (let lead = 0x80; lead <= 0xff; lead += 1) {
      for (const second of [0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0]) {
        for (const rest of [[], [0x80], [0x80, 0x80], [0x80, 0x80, 0x80]]) {
          const bytes = Uint8Array.of(0x22, lead, second, ...rest, 0x22);
          if (isCanonicalJson(bytes) !== isCanonicalTheLongWay(bytes)) expect.fail(Buffer.from(bytes).toString("hex"));
        }
      }
    }
  });

  it("takes 32 levels and not 33", () => {
    const nested = (levels: number): Uint8Array => utf8(`${"[".repeat(levels)}${"]".repeat(levels)}`);
    expect(isCanonicalJson(nested(32))).toBe(true);
    expect(isCanonicalJson(nested(33))).toBe(false);
    expect(isCanonicalJson(utf8("[{}]"), 1)).toBe(false);
  });
});

// The quick way to canonical JSON against the careful one: of every value that a decoder can make, the same text or the same refusal.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { inputCount } from "../../../testkit/full-count.ts";
import { prng } from "../../../testkit/virtual/prng.ts";
import { createEntryMaker, type Entry, makeEntry } from "../entry.ts";
import { canonicalJson, type Limits, ValueRefused } from "./canonical-json.ts";
import { createPlainWriter, noRoom, notPlain } from "./plain-json.ts";

interface Golden {
  readonly canonical: readonly { name: string; input: string; canonical: string }[];
  readonly refused: readonly { name: string; input: string }[];
}
const golden = JSON.parse(readFileSync(new URL("../golden/rfc8785.json", import.meta.url), "utf8")) as Golden;
const seed = 20_261_118;
/** With so few names that it begins anew all the time. */
const writer = createPlainWriter(40);
const room = new Uint8Array(70_000);

/** The short way, and the careful one for what cannot go it; what it may not touch is still what it was. */
function writePlain(value: unknown, limits: Limits = {}, by = writer): string {
  const end = 7 + (limits.lengthMax ?? 65_535);
  room.fill(0xff, end);
  room.fill(0xff, 0, 7);
  by.setRoom(room, end);
  const at = by.value(value, 7, limits.levelsMax);
  expect(room.indexOf(0xff)).toBe(0);
  expect(room.subarray(end, end + 64).every((byte) => byte === 0xff)).toBe(true);
  if (at < 0) {
    expect([notPlain, noRoom]).toContain(at);
    return canonicalJson(value, limits);
  }
  return Buffer.from(room.subarray(7, at)).toString("utf8");
}

function outcome(write: (value: unknown, limits?: Limits) => string, value: unknown, limits?: Limits): string {
  try {
    return write(value, limits);
  } catch (thrown) {
    if (thrown instanceof ValueRefused) return `refused: ${thrown.message}`;
    throw thrown;
  }
}

/** A value of any kind, now and then one that has no canonical form. */
function anyValue(thrown: ReturnType<typeof prng>, levels: number): unknown {
  const text = () => ["", "a", "ä", '"\\', "\n", "\u2028", "\u{1f600}", "\\ud83d", "long ".repeat(20)][thrown.below(9)];
  if (thrown.chance(0.01))
    return [Number.POSITIVE_INFINITY, 2 ** 60, Number.NaN, undefined, "\ud800", 2 ** 53, () => 1][thrown.below(7)];
  switch (levels === 0 ? thrown.below(4) : thrown.below(6)) {
    case 0:
      return text();
    case 1:
      return (thrown.below(1_000_000) - 500_000) * (thrown.chance(0.3) ? 10 ** (thrown.below(60) - 30) : 1);
    case 2:
      return thrown.chance(0.5);
    case 3:
      return null;
    case 4:
      return Array.from({ length: thrown.below(5) }, () => anyValue(thrown, levels - 1));
    default: {
      const names = Array.from({ length: thrown.below(6) }, () => `${text()}${thrown.below(30)}`);
      if (thrown.chance(0.7)) names.sort();
      return Object.fromEntries(names.map((name) => [name, anyValue(thrown, levels - 1)]));
    }
  }
}

describe("canonical JSON of plain values", () => {
  it.each([...golden.canonical, ...golden.refused])("as the careful way: $name", ({ input }) => {
    const value: unknown = JSON.parse(input);
    expect(outcome(writePlain, value)).toBe(outcome(canonicalJson, value));
  });

  it(`as the careful way, ${inputCount(3_000).toLocaleString("en")} values, seed ${seed}`, () => {
    const thrown = prng(seed);
    let refused = 0;
    const turns = inputCount(3_000);
    for (let turn = 0; turn < turns; turn += 1) {
      const value = anyValue(thrown, 4);
      const limits = thrown.chance(0.2) ? { levelsMax: thrown.below(4), lengthMax: thrown.below(60) } : {};
      const expected = outcome(canonicalJson, value, limits);
      if (expected.startsWith("refused")) refused += 1;
      expect(outcome(writePlain, value, limits)).toBe(expected);
    }
    expect(refused).toBeGreaterThan(turns / 30);
  });

  it("does not run for ever on a value that holds itself, or one value in many places", () => {
    const cycle: unknown[] = [];
    cycle.push(cycle);
    expect(outcome(writePlain, cycle)).toMatch(/^refused/);
    let wide: unknown = "x";
    for (let level = 0; level < 30; level += 1) wide = [wide, wide];
    expect(outcome(writePlain, wide)).toMatch(/^refused.*too long/);
  });

  it("writes names that it has seen, in another order, behind others or none, and none of a prototype", () => {
    const own = createPlainWriter();
    const write = (value: unknown): string => writePlain(value, {}, own);
    const seen = [
      { a: 1, b: 2, c: 3 },
      { b: 2, c: { a: "x", b: "y" } },
      { a: 1, c: 3 },
      {},
      { c: 1, b: 2 },
      { "": { "": 0 } },
    ];
    for (const value of [...seen, ...seen, { 10: 1, 9: 2 }, { '"': 1 }, { a: 1, ä: 2 }, [[], [{}]]]) {
      expect(write(value)).toBe(canonicalJson(value));
    }
    Object.defineProperty(Object.prototype, "meddled", { value: 1, enumerable: true, configurable: true });
    const at = own.value({ a: 1 }, 7);
    Reflect.deleteProperty(Object.prototype, "meddled");
    expect(at).toBe(notPlain);
  });
});

describe("an entry maker", () => {
  it(`makes the entries that are made one at a time, and changes none that it made before, seed ${seed}`, () => {
    const sha256 = (content: Uint8Array): string => String.fromCharCode(content.length % 256).repeat(32);
    const thrown = prng(seed);
    const make = createEntryMaker(sha256);
    const all = Array.from({ length: 300 }, (_unused, sequence) => {
      const data = { note: "größer \u{1f600}".repeat(thrown.below(sequence % 50 === 0 ? 3_000 : 40)), sequence };
      const fields = { actor: "a", action: "b", subject_id: "c", timestamp: "2026-11-15T09:30:00.000000Z" };
      return { ...fields, data, sequence, prev_hash: "0".repeat(64) };
    });
    const made = all.map((fields) => make.ofText(fields, canonicalJson(fields.data)));
    for (const [sequence, fields] of all.entries()) {
      const alone = makeEntry(fields, sha256);
      expect(made[sequence]?.hash).toBe(alone.hash);
      expect(made[sequence]?.leaf).toBe(alone.leaf);
      expect(Buffer.compare(made[sequence]?.text ?? new Uint8Array(0), alone.text)).toBe(0);
    }
  });

  it(`makes the same of plain data with one more member as of its text, in turns with the careful way, seed ${seed}`, () => {
    const sha256 = (content: Uint8Array): string => createHash("sha256").update(content).digest("binary");
    const thrown = prng(seed);
    const make = createEntryMaker(sha256);
    let previous = "0".repeat(64);
    let plain = 0;
    const kept: { made: Entry; alone: Entry }[] = [];
    for (let sequence = 0; sequence < 600; sequence += 1) {
      const long = thrown.chance(0.03) ? "x".repeat(thrown.below(70_000)) : "x";
      const data = thrown.chance(0.05)
        ? {}
        : { at: long, note: thrown.chance(0.1) ? "größer" : "plain", number: sequence };
      const fields = {
        sequence,
        timestamp: "2026-11-15T09:30:00.000000Z",
        prev_hash: previous,
        actor: thrown.chance(0.1) ? "ä" : "service:oms",
        action: "order.updated",
        subject_id: `order-${sequence}`,
      };
      const whole = { ...fields, data: { ...data, previous: sequence } };
      if (long.length > 65_000) {
        expect(make.ofPlain(fields, data, `"previous":${sequence}`)).toBeUndefined();
        continue;
      }
      const short = make.ofPlain(fields, data, `"previous":${sequence}`);
      if (short !== undefined) plain += 1;
      const made = short ?? make.ofText(fields, canonicalJson(whole.data));
      previous = made.hash;
      kept.push({ made, alone: makeEntry(whole, sha256) });
    }
    expect(plain).toBeGreaterThan(400);
    for (const { made, alone } of kept) {
      expect({ hash: made.hash, leaf: made.leaf }).toEqual({ hash: alone.hash, leaf: alone.leaf });
      expect(Buffer.compare(made.text, alone.text)).toBe(0);
    }
  });

  it("refuses fields that the format does not allow, and leaves what only the careful way can tell to it", () => {
    const make = createEntryMaker(() => "h".repeat(32));
    const fields = { sequence: 1, timestamp: "2026-11-15T09:30:00.000000Z", prev_hash: "0".repeat(64) };
    const good = { ...fields, actor: "a", action: "b", subject_id: "c" };
    expect(make.ofPlain(good, {}, '"p":1')).toBeDefined();
    for (const bad of [{ sequence: -1 }, { sequence: 1.5 }, { timestamp: "today" }, { prev_hash: "0" }]) {
      expect(() => make.ofPlain({ ...good, ...bad }, {}, '"p":1')).toThrow(ValueRefused);
    }
    for (const bad of [{ actor: "" }, { action: "x".repeat(300) }, { subject_id: "a\nb" }, { actor: "ä" }]) {
      expect(make.ofPlain({ ...good, ...bad }, {}, '"p":1')).toBeUndefined();
    }
  });
});

// Which changes of reference data loosen. The numbers are the invariants of reference-changes.ts.
import { describe, expect, it } from "vitest";
import {
  type ReferenceContents,
  type ReferenceKind,
  referenceContents,
  referenceKind,
} from "../../contracts/src/records/reference.ts";
import { referenceWords } from "../../contracts/src/records/reference-fields.ts";
import { prng } from "../../testkit/virtual/prng.ts";
import { looseningChanges, type ReferenceUse, referenceChanges } from "./reference-changes.ts";

const instrument = {
  symbol: "AAPL",
  name: "Apple",
  asset_class: "EQUITY",
  currency: "USD",
  tick_size: "0.01",
  lot_size: "1",
  multiplier: "1",
  sector: "technology",
  calendar: "nyse",
  venue: "XNAS",
} as const;
const fund = {
  fund_id: "alpha",
  name: "Alpha",
  mode: "LIVE",
  currency: "USD",
  calendar: "nyse",
  strategies: ["a-1"],
} as const;
const calendar = {
  name: "nyse",
  zone: "America/New_York",
  sessions: "always",
  holidays: [],
  early_closes: {},
} as const;
const venue = { venue: "XNAS", priced_by: ["feed"] };
const borrow = { symbol: "AAPL", available_quantity: "100", fee_pct: "0.02", as_of: "2026-01-02T00:00:00Z" };
const rate = { base: "EUR", quote: "USD", rate: "1.085", as_of: "2026-01-02T00:00:00Z" };

const contents = {
  instruments: [instrument],
  funds: [fund],
  fx: [rate],
  borrow: [borrow],
  restricted: [{ symbol: "AAPL", reason: "earnings" }],
  calendars: [calendar],
  venues: [venue],
} as unknown as ReferenceContents;

const used: ReferenceUse = { isHeld: () => true, isRun: () => true };
const unused: ReferenceUse = { isHeld: () => false, isRun: () => false };

function loosened(kind: ReferenceKind, content: readonly object[], use = used, before = contents): readonly string[] {
  const after = { ...before, [kind]: content } as ReferenceContents;
  return looseningChanges(referenceChanges(kind, before, after, use)).map(({ field }) => field);
}

describe("what loosens", () => {
  it.each<[ReferenceKind, object, readonly string[]]>([
    ["instruments", { ...instrument, name: "Apple Inc." }, []],
    ["instruments", { ...instrument, sector: "energy" }, ["instruments AAPL sector"]],
    ["instruments", { ...instrument, sector: "" }, ["instruments AAPL sector"]],
    [
      "instruments",
      { ...instrument, multiplier: "2", tick_size: "0.05" },
      ["instruments AAPL multiplier", "instruments AAPL tick_size"],
    ],
    ["instruments", { ...instrument, something_new: "1" }, ["instruments AAPL something_new"]],
    ["funds", { ...fund, mode: "PAPER" }, ["funds alpha mode"]],
    ["funds", { ...fund, valued_by: "desk" }, ["funds alpha valued_by"]],
    ["funds", { ...fund, strategies: [] }, []],
    ["funds", { ...fund, strategies: ["a-1", "a-1"] }, []],
    ["funds", { ...fund, strategies: ["a-2"] }, ["funds alpha strategies"]],
    ["funds", { ...fund, strategies: undefined }, ["funds alpha strategies"]],
    ["fx", { ...rate, rate: "1.08" }, ["fx EUR/USD rate"]],
    ["fx", { ...rate, as_of: "2026-01-01T00:00:00Z" }, []],
    ["fx", { ...rate, as_of: "2026-01-03T00:00:00Z" }, ["fx EUR/USD as_of"]],
    ["fx", { ...rate, as_of: "yesterday" }, ["fx EUR/USD as_of"]],
    ["borrow", { ...borrow, available_quantity: "99", fee_pct: "0.03" }, []],
    ["borrow", { ...borrow, available_quantity: "100.0", fee_pct: "0.020" }, []],
    ["borrow", { ...borrow, available_quantity: "101" }, ["borrow AAPL available_quantity"]],
    ["borrow", { ...borrow, fee_pct: "0" }, ["borrow AAPL fee_pct"]],
    ["borrow", { ...borrow, fee_pct: "low" }, ["borrow AAPL fee_pct"]],
    ["restricted", { symbol: "AAPL", reason: "another" }, []],
    ["instruments", { ...instrument, priced_by: ["other"] }, ["instruments AAPL priced_by"]],
    ["venues", { ...venue, priced_by: ["feed", "other"] }, ["venues XNAS priced_by"]],
    ["calendars", { ...calendar, holidays: ["2026-12-25"] }, ["calendars nyse holidays"]],
    ["calendars", { ...calendar, known_until: "2027-01-01" }, ["calendars nyse known_until"]],
  ])("%s as %j: %j", (kind, record, expected) => {
    expect(loosened(kind, [record])).toEqual(expected);
  });

  it("a record that comes or goes", () => {
    expect(loosened("restricted", [])).toEqual(["restricted AAPL"]);
    expect(loosened("restricted", [...contents.restricted, { symbol: "MSFT", reason: "x" }])).toEqual([]);
    expect(loosened("borrow", [])).toEqual([]);
    expect(loosened("borrow", [borrow, { ...borrow, symbol: "MSFT" }])).toEqual(["borrow MSFT"]);
    expect(loosened("instruments", [])).toEqual(["instruments AAPL"]);
    expect(loosened("funds", [])).toEqual([]);
    expect(loosened("fx", [])).toEqual([]);
    // The other direction would be taken in its place.
    expect(loosened("fx", [{ ...rate, base: "USD", quote: "EUR", rate: "0.01" }])).toEqual([
      "fx EUR/USD",
      "fx USD/EUR",
    ]);
  });

  it("3: a new symbol that no fund holds and no list names, an unused calendar and a fund that is not run loosen nothing", () => {
    const added = [instrument, { ...instrument, symbol: "MSFT" }];
    expect(loosened("instruments", added, unused)).toEqual([]);
    expect(loosened("instruments", added, { ...unused, isHeld: (symbol) => symbol === "MSFT" })).toEqual([
      "instruments MSFT",
    ]);
    for (const listed of [
      { ...contents, restricted: [{ symbol: "MSFT", reason: "x" }] },
      { ...contents, borrow: [{ ...borrow, symbol: "MSFT" }] },
    ]) {
      expect(loosened("instruments", added, unused, listed)).toEqual(["instruments MSFT"]);
    }
    expect(loosened("instruments", [{ ...instrument, sector: "energy" }], unused)).toEqual(["instruments AAPL sector"]);
    const night = { ...calendar, name: "night" };
    const withNight = { ...contents, calendars: [calendar, night] } as unknown as ReferenceContents;
    expect(loosened("calendars", [calendar, { ...night, zone: "UTC" }], used, withNight)).toEqual([]);
    const changed = [
      { ...fund, mode: "PAPER", currency: "EUR", valued_by: "nobody-yet" },
      { ...fund, fund_id: "omega", strategies: ["o-1"] },
    ];
    expect(loosened("funds", changed, unused)).toEqual([]);
    expect(loosened("funds", changed, { ...unused, isRun: (fundId) => fundId === "omega" })).toEqual(["funds omega"]);
  });

  it("1: every field of every record has its word", () => {
    for (const kind of referenceKind.options) {
      const fields = Object.keys(referenceContents[kind].element.shape).sort();
      expect([kind, Object.keys(referenceWords[kind].fields).sort()]).toEqual([kind, fields]);
    }
  });
});

describe("2: a document is changed in one step or in many", () => {
  const values: Readonly<Record<ReferenceKind, (pick: (among: readonly unknown[]) => unknown) => object>> = {
    instruments: (pick) => ({
      ...instrument,
      symbol: pick(["AAPL", "MSFT", "XOM"]),
      sector: pick(["", "technology", "energy"]),
      tick_size: pick(["0.01", "0.05"]),
    }),
    funds: (pick) => ({
      ...fund,
      fund_id: pick(["alpha", "beta"]),
      mode: pick(["LIVE", "PAPER"]),
      strategies: pick([[], ["s-1"], ["s-1", "s-2"]]),
      valued_by: pick([undefined, "desk"]),
    }),
    fx: (pick) => ({
      base: pick(["EUR", "USD"]),
      quote: pick(["EUR", "USD", "JPY"]),
      rate: pick(["1", "1.1"]),
      as_of: pick(["2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"]),
    }),
    borrow: (pick) => ({
      symbol: pick(["AAPL", "MSFT"]),
      available_quantity: pick(["0", "10", "20"]),
      fee_pct: pick(["0", "0.1"]),
      as_of: pick(["2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"]),
    }),
    restricted: (pick) => ({ symbol: pick(["AAPL", "MSFT", "XOM"]), reason: pick(["x", "y"]) }),
    calendars: (pick) => ({
      ...calendar,
      name: pick(["nyse", "night"]),
      zone: pick(["UTC", "Asia/Tokyo"]),
      holidays: pick([[], ["2026-12-25"]]),
    }),
    venues: (pick) => ({ venue: pick(["XNAS", "XNYS"]), priced_by: pick([["feed"], ["other", "feed"]]) }),
  };

  /** Nothing twice, as the rules of reference data have it. */
  function drawn(kind: ReferenceKind, random: ReturnType<typeof prng>): readonly object[] {
    const pick = (among: readonly unknown[]) => among[random.below(among.length)];
    const records = Array.from({ length: random.below(5) }, () => values[kind](pick));
    // What is used stays: the rules of reference data refuse the rest.
    if (kind === "venues") records.push({ ...values[kind](pick), venue: "XNAS" });
    if (kind === "calendars") records.push({ ...values[kind](pick), name: "nyse" });
    const keyOf = (record: object) => JSON.stringify(record, [...referenceWords[kind].key]);
    return [...new Map(records.map((record) => [keyOf(record), record])).values()];
  }

  it.each(referenceKind.options)(
    "%s: no way around a step that loosens, and each step is the sum of its records",
    (kind) => {
      let loosening = 0;
      for (let seed = 1; seed <= 400; seed += 1) {
        const random = prng(seed);
        const isUsed = random.below(2) === 0;
        const documents = Array.from({ length: 2 + random.below(5) }, () => drawn(kind, random));
        const worlds = documents.map((content) => ({ ...contents, [kind]: content }) as ReferenceContents);
        const judge = (before: ReferenceContents, after: ReferenceContents) =>
          looseningChanges(referenceChanges(kind, before, after, isUsed ? used : unused));
        const [first, last] = [worlds[0], worlds.at(-1)] as [ReferenceContents, ReferenceContents];
        const steps = worlds.slice(1).map((after, index) => judge(worlds[index] as ReferenceContents, after));
        // What is looser at the end took a step that loosens.
        if (judge(first, last).length > 0) {
          loosening += 1;
          expect([seed, steps.some((found) => found.length > 0)]).toEqual([seed, true]);
        }
        // Record by record, in any order: the same answers as the whole document at once.
        const keyOf = (record: object) => JSON.stringify(record, [...referenceWords[kind].key]);
        const then = new Map((first[kind] as readonly object[]).map((record) => [keyOf(record), record]));
        const now = new Map((last[kind] as readonly object[]).map((record) => [keyOf(record), record]));
        const one = [...new Set([...then.keys(), ...now.keys()])].flatMap((key) => {
          const only = new Map(then);
          const record = now.get(key);
          if (record === undefined) only.delete(key);
          else only.set(key, record);
          return judge(first, { ...first, [kind]: [...only.values()] } as ReferenceContents).map(({ field }) => field);
        });
        const whole = judge(first, last).map(({ field }) => field);
        // A rate that goes while the other direction comes in the same document is judged with it.
        if (kind === "fx") expect(whole).toEqual(expect.arrayContaining(one.filter((field) => whole.includes(field))));
        else expect([seed, whole]).toEqual([seed, one.sort()]);
      }
      expect(loosening).toBeGreaterThan(20);
    },
  );
});

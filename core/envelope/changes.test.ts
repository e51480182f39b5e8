// Which change of an envelope loosens and which tightens: a table of every field, and the law that going back does the opposite.
import fc from "fast-check";
import { expect, test } from "vitest";
import { type RiskEnvelope, riskEnvelope } from "../../contracts/src/records/envelope.ts";
import { envelopeWords } from "../../testkit/authority/envelope-words.ts";
import { inputCount } from "../../testkit/full-count.ts";
import { exampleEnvelope } from "../../testkit/record-examples.ts";
import { type EnvelopeEffect, loosens } from "./changes.ts";
import { envelopeChanges } from "./envelope.ts";

const base: RiskEnvelope = {
  ...exampleEnvelope,
  allowed_brokers: ["paper"],
  allowed_order_types: ["LIMIT"],
  allowed_asset_classes: ["EQUITY"],
  sector_limits_pct: { tech: 0.3 },
  shorting_enabled: false,
  max_borrow_fee_pct: 0.02,
  halt_allow_reduce_only: false,
  exit_collar_pct: 0.3,
  max_stress_loss_pct: 0.2,
  strict_sides: true,
  strategy_loss_halt_pct: 0.02,
  rolling_24h_loss_halt_pct: 0.02,
  rolling_5d_loss_halt_pct: 0.05,
  high_water_loss_halt_pct: 0.1,
  cro_veto_enabled: true,
  cro_veto_timeout_ms: 2_000,
  cro_veto_on_timeout: "DENY",
  repeated_execution_max: 5,
  repeated_execution_window_s: 60,
};

const passes = { ...base, cro_veto_on_timeout: "PASS_WITH_WARNING" } as const;
const noOfficer = without(base, "cro_veto_enabled", "cro_veto_timeout_ms", "cro_veto_on_timeout");
const noThrottle = without(base, "repeated_execution_max", "repeated_execution_window_s");

function without(record: RiskEnvelope, ...fields: readonly (keyof RiskEnvelope)[]): RiskEnvelope {
  return Object.fromEntries(
    Object.entries(record).filter(([field]) => !fields.some((each) => each === field)),
  ) as RiskEnvelope;
}

/** From, to, and what it does; going back must do the opposite. */
const table: readonly (readonly [field: string, from: RiskEnvelope, to: RiskEnvelope, effect: EnvelopeEffect])[] = [
  ...(
    [
      "max_position_pct",
      "daily_loss_halt_pct",
      "weekly_loss_halt_pct",
      "monthly_loss_halt_pct",
      "synthetic_stop_pct",
      "max_notional",
      "max_gross_exposure_pct",
      "max_net_exposure_pct",
      "max_stress_loss_pct",
      "max_borrow_fee_pct",
      "price_collar_pct",
      "exit_collar_pct",
      "order_rate_max_per_s",
      "strategy_loss_halt_pct",
      "rolling_24h_loss_halt_pct",
      "rolling_5d_loss_halt_pct",
      "high_water_loss_halt_pct",
      "repeated_execution_max",
    ] as const
  ).map((field) => [field, base, { ...base, [field]: (base[field] ?? 0) * 2 }, "LOOSENS"] as const),
  ...(
    [
      "max_stress_loss_pct",
      "strategy_loss_halt_pct",
      "rolling_24h_loss_halt_pct",
      "rolling_5d_loss_halt_pct",
      "high_water_loss_halt_pct",
      "repeated_execution_max",
    ] as const
  ).map((field) => [field, base, without(base, field), "LOOSENS"] as const),
  ["allowed_brokers", base, { ...base, allowed_brokers: ["paper", "alpaca"] }, "LOOSENS"],
  ["allowed_brokers", base, { ...base, allowed_brokers: [] }, "TIGHTENS"],
  ["allowed_order_types", base, { ...base, allowed_order_types: ["LIMIT", "MARKET"] }, "LOOSENS"],
  ["allowed_asset_classes", base, { ...base, allowed_asset_classes: ["EQUITY", "OPTION"] }, "LOOSENS"],
  ["sector_limits_pct.tech", base, { ...base, sector_limits_pct: { tech: 0.4 } }, "LOOSENS"],
  ["sector_limits_pct.tech", base, { ...base, sector_limits_pct: {} }, "LOOSENS"],
  ["sector_limits_pct.bank", base, { ...base, sector_limits_pct: { tech: 0.3, bank: 9 } }, "TIGHTENS"],
  ["shorting_enabled", base, { ...base, shorting_enabled: true }, "LOOSENS"],
  ["strict_sides", base, { ...base, strict_sides: false }, "LOOSENS"],
  ["halt_allow_reduce_only", base, { ...base, halt_allow_reduce_only: true }, "LOOSENS"],
  ["cro_veto_enabled", base, { ...base, cro_veto_enabled: false }, "LOOSENS"],
  ["cro_veto_enabled", base, without(base, "cro_veto_enabled"), "LOOSENS"],
  ["cro_veto_on_timeout", base, passes, "LOOSENS"],
  ["cro_veto_timeout_ms", base, { ...base, cro_veto_timeout_ms: 500 }, "NEUTRAL"],
  ["cro_veto_timeout_ms", passes, { ...passes, cro_veto_timeout_ms: 500 }, "LOOSENS"],
  ["repeated_execution_window_s", base, { ...base, repeated_execution_window_s: 30 }, "LOOSENS"],
];

const opposite = { LOOSENS: "TIGHTENS", TIGHTENS: "LOOSENS", NEUTRAL: "NEUTRAL" } as const;

test.each(table)("%s", (field, from, to, effect) => {
  expect(envelopeChanges(from, to)).toMatchObject([{ field, effect }]);
  expect(envelopeChanges(to, from)).toMatchObject([{ field, effect: opposite[effect] }]);
});

test("the table has every field that is a limit", () => {
  const notLimits = ["fund_id", "version", "updated_by", "updated_at", "reason", "loosening", "hash"];
  const reported = new Set(table.map(([field]) => field.split(".")[0]));
  expect([...reported].sort()).toEqual(
    Object.keys(riskEnvelope.shape)
      .filter((field) => !notLimits.includes(field))
      .sort(),
  );
});

test("a list that gains one entry and loses another loosens, in both directions", () => {
  const other = { ...base, allowed_brokers: ["alpaca"] };
  expect(envelopeChanges(base, other)).toEqual([
    { field: "allowed_brokers", before: '["paper"]', after: '["alpaca"]', effect: "LOOSENS" },
  ]);
  expect(envelopeChanges(other, base)).toMatchObject([{ effect: "LOOSENS" }]);
});

test("the order of a list, its repetitions, a stated default and who wrote why are no changes", () => {
  const pair = { ...base, allowed_brokers: ["paper", "alpaca"] };
  expect(envelopeChanges(pair, { ...pair, allowed_brokers: ["alpaca", "paper", "alpaca"] })).toEqual([]);
  const off = without(noOfficer, "repeated_execution_window_s");
  const stated = { ...noOfficer, cro_veto_enabled: false, cro_veto_timeout_ms: 2_000, repeated_execution_window_s: 60 };
  expect(envelopeChanges(off, stated)).toEqual([]);
  const rewritten = { ...base, version: 9, reason: "new", updated_by: "x", hash: "0".repeat(64) };
  expect(envelopeChanges(base, rewritten)).toEqual([]);
});

test("turning the officer on tightens whatever it does when nobody answers", () => {
  const on = { ...noOfficer, cro_veto_enabled: true, cro_veto_timeout_ms: 9, cro_veto_on_timeout: "PASS_WITH_WARNING" };
  const changes = envelopeChanges(noOfficer, on as RiskEnvelope);
  expect(changes.map(({ field, effect }) => [field, effect])).toEqual([
    ["cro_veto_enabled", "TIGHTENS"],
    ["cro_veto_timeout_ms", "NEUTRAL"],
    ["cro_veto_on_timeout", "NEUTRAL"],
  ]);
  expect(loosens(changes)).toBe(false);
  expect(loosens(envelopeChanges(on as RiskEnvelope, noOfficer))).toBe(true);
});

test("how an officer that is off on one side would have waited says nothing", () => {
  const off = { ...passes, cro_veto_enabled: false, cro_veto_timeout_ms: 9_000 };
  expect(envelopeChanges(off, passes)).toMatchObject([{ effect: "TIGHTENS" }, { effect: "NEUTRAL" }]);
  expect(envelopeChanges(passes, off)).toMatchObject([{ effect: "LOOSENS" }, { effect: "NEUTRAL" }]);
});

test("a policy that denies silence tightens, however short its time", () => {
  const changes = envelopeChanges(passes, { ...base, cro_veto_timeout_ms: 1 });
  expect(loosens(changes)).toBe(false);
});

test("a throttle that comes with its window tightens", () => {
  expect(loosens(envelopeChanges(noThrottle, { ...base, repeated_execution_window_s: 5 }))).toBe(false);
  expect(loosens(envelopeChanges({ ...base, repeated_execution_window_s: 5 }, noThrottle))).toBe(true);
});

test("a collar that changes loosens either way where it values orders: a narrower one lets larger market orders under every limit", () => {
  const collar = (from: number, to: number, allowed_order_types: RiskEnvelope["allowed_order_types"]) =>
    envelopeChanges(
      { ...base, allowed_order_types, price_collar_pct: from },
      { ...base, allowed_order_types, price_collar_pct: to },
    ).map(({ effect }) => effect);
  for (const valued of ["MARKET", "STOP"] as const) {
    expect(collar(0.05, 0.02, ["LIMIT", valued])).toEqual(["LOOSENS"]);
    expect(collar(0.02, 0.05, ["LIMIT", valued])).toEqual(["LOOSENS"]);
  }
  expect(collar(0.05, 0.02, ["LIMIT", "STOP_LIMIT"])).toEqual(["TIGHTENS"]);
  expect(collar(0.02, 0.05, ["LIMIT", "STOP_LIMIT"])).toEqual(["LOOSENS"]);
});

test("22.4: the collar of exits that is not stated moves with the other one, and stating what applies changes nothing", () => {
  const follows = without(base, "exit_collar_pct");
  expect(envelopeChanges(follows, { ...follows, exit_collar_pct: 0.2 })).toEqual([]);
  expect(envelopeChanges(follows, { ...follows, price_collar_pct: 0.04 })).toEqual([
    { field: "price_collar_pct", before: "0.05", after: "0.04", effect: "TIGHTENS" },
    { field: "exit_collar_pct", before: "0.2", after: "0.16", effect: "TIGHTENS" },
  ]);
  // The other collar wins where it is wider.
  const narrow = { ...base, exit_collar_pct: 0.01 };
  expect(envelopeChanges(narrow, { ...narrow, exit_collar_pct: 0.02 })).toEqual([]);
  expect(envelopeChanges(narrow, { ...narrow, exit_collar_pct: 0.06 })).toMatchObject([
    { field: "exit_collar_pct", before: "0.05", effect: "LOOSENS" },
  ]);
});

test("22.7: an envelope that was stored before there was a switch has strict sides", () => {
  const old = without(base, "strict_sides");
  expect(envelopeChanges(old, base)).toEqual([]);
  expect(envelopeChanges(old, { ...base, strict_sides: false })).toMatchObject([
    { field: "strict_sides", before: "true", after: "false", effect: "LOOSENS" },
  ]);
});

test("one loosened field loosens a mixed update", () => {
  const changes = envelopeChanges(base, { ...base, max_notional: 1, max_position_pct: 0.08 });
  expect(changes.map((change) => change.effect).sort()).toEqual(["LOOSENS", "TIGHTENS"]);
  expect(loosens(changes)).toBe(true);
});

test("the figures before and after stand as JSON has them", () => {
  const changes = envelopeChanges(base, { ...without(base, "strategy_loss_halt_pct"), max_notional: 1e-7 });
  expect(changes).toContainEqual({ field: "max_notional", before: "250000", after: "1e-7", effect: "TIGHTENS" });
  expect(changes).toContainEqual({ field: "strategy_loss_halt_pct", before: "0.02", after: "", effect: "LOOSENS" });
});

test("a fund's first envelope loosens in everything it says", () => {
  const changes = envelopeChanges(undefined, base);
  expect(changes.every(({ before, effect }) => before === "" && effect === "LOOSENS")).toBe(true);
  expect(changes.map((change) => change.field)).toContain("sector_limits_pct.tech");
  expect(changes.map((change) => change.field)).toContain("allowed_brokers");
  expect(changes.map((change) => change.field)).not.toContain("reason");
});

const fraction = fc.constantFrom(0.01, 0.05, 0.5, 1);
const maybe = fc.option(fraction, { nil: undefined });
const someOf = (...words: readonly string[]) => fc.subarray([...words]);

const anyEnvelope: fc.Arbitrary<RiskEnvelope> = fc
  .record({
    max_position_pct: fraction,
    max_notional: fc.constantFrom(0, 1, 250_000),
    allowed_brokers: someOf("paper", "alpaca"),
    allowed_order_types: someOf("MARKET", "LIMIT"),
    sector_limits_pct: fc.dictionary(fc.constantFrom("tech", "bank"), fraction),
    shorting_enabled: fc.boolean(),
    halt_allow_reduce_only: fc.boolean(),
    price_collar_pct: fraction,
    exit_collar_pct: fc.option(fc.constantFrom(0.01, 0.2, 0.9), { nil: undefined }),
    strict_sides: fc.option(fc.boolean(), { nil: undefined }),
    strategy_loss_halt_pct: maybe,
    high_water_loss_halt_pct: maybe,
    cro_veto_enabled: fc.option(fc.boolean(), { nil: undefined }),
    cro_veto_timeout_ms: fc.option(fc.constantFrom(1, 2_000, 9_000), { nil: undefined }),
    cro_veto_on_timeout: fc.option(fc.constantFrom("DENY", "PASS_WITH_WARNING"), { nil: undefined }),
    repeated_execution_max: fc.option(fc.constantFrom(1, 5), { nil: undefined }),
    repeated_execution_window_s: fc.option(fc.constantFrom(1, 60, 90), { nil: undefined }),
  })
  .map((changed) => ({ ...base, ...changed }) as RiskEnvelope);

test("going back does the opposite, field by field, and nothing changes against itself", () => {
  // These may loosen both ways.
  const mixed = ["allowed_brokers", "allowed_order_types", "allowed_asset_classes", "price_collar_pct"];
  fc.assert(
    fc.property(anyEnvelope, anyEnvelope, (left, right) => {
      expect(envelopeChanges(left, left)).toEqual([]);
      const forth = envelopeChanges(left, right);
      const back = envelopeChanges(right, left);
      expect(back.map(({ field }) => field)).toEqual(forth.map(({ field }) => field));
      for (const [index, change] of forth.entries()) {
        const other = back[index];
        expect([other?.before, other?.after]).toEqual([change.after, change.before]);
        if (!mixed.includes(change.field)) expect(other?.effect, change.field).toBe(opposite[change.effect]);
        else expect([change.effect, other?.effect]).toContain("LOOSENS");
      }
    }),
    { seed: 4, numRuns: inputCount(1_000) },
  );
});

test("every field that is said to loosen is judged, in the direction that is said", () => {
  const judged = new Map<string, Set<EnvelopeEffect>>();
  for (const [field, , , effect] of table) {
    const name = field.split(".")[0] ?? field;
    judged.set(name, (judged.get(name) ?? new Set()).add(effect));
  }
  const said = Object.entries(envelopeWords).flatMap(([field, { loosens: word }]) => (word === "NEVER" ? [] : [field]));
  expect(said.filter((field) => judged.get(field)?.has("LOOSENS") !== true)).toEqual([]);
  for (const [field, from, to, effect] of table) {
    const name = field as keyof RiskEnvelope;
    const [then, now] = [from[name], to[name]];
    if (!/^HIGHER/.test(envelopeWords[name]?.loosens ?? "") || effect !== "LOOSENS") continue;
    expect([field, now === undefined || Number(now) > Number(then)]).toEqual([field, true]);
  }
});

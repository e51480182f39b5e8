// Envelopes: what is read from a message, what every mistake is answered with, and a hash that stays what it was.
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import { RiskEnvelope as RiskEnvelopeMessage } from "../../contracts/src/generated/svc/v1/envelope.ts";
import { type RiskEnvelope, riskEnvelope } from "../../contracts/src/records/envelope.ts";
import { inputCount } from "../../testkit/full-count.ts";
import { nothing, parseAmount, toDecimal } from "../money/amount.ts";
import { envelopeDefaults } from "./defaults.ts";
import { compileEnvelope, envelopeHashText, envelopeMessage, readEnvelope } from "./envelope.ts";

/** Only what has no default. */
const least: RiskEnvelopeMessage = {
  fund_id: "alpha",
  version: 2,
  max_position_pct: 0.07,
  daily_loss_halt_pct: 0.02,
  weekly_loss_halt_pct: 0.04,
  monthly_loss_halt_pct: 0.06,
  synthetic_stop_pct: 0.05,
  max_notional: 250_000,
  allowed_brokers: ["paper"],
  allowed_order_types: ["MARKET", "LIMIT"],
  allowed_asset_classes: ["EQUITY"],
  sector_limits_pct: {},
};

function recordOf(message: RiskEnvelopeMessage): RiskEnvelope {
  const read = readEnvelope(message);
  if (!("record" in read)) throw new Error(read.reason);
  return read.record;
}

function mistakes(changed: Partial<Record<keyof RiskEnvelopeMessage, unknown>>): string {
  const read = readEnvelope({ ...least, ...changed } as RiskEnvelopeMessage);
  if ("record" in read) return "";
  expect(read.code).toBe("ENVELOPE_INVALID");
  return read.reason;
}

test("what is left out gets its default, and what is off stays absent", () => {
  expect(recordOf(least)).toEqual({
    ...least,
    max_gross_exposure_pct: 1,
    max_net_exposure_pct: 1,
    shorting_enabled: false,
    max_borrow_fee_pct: 0,
    price_collar_pct: 0.05,
    order_rate_max_per_s: 50,
    halt_allow_reduce_only: true,
    strict_sides: true,
  });
  expect(recordOf({ ...least, max_gross_exposure_pct: 0.5 }).max_net_exposure_pct).toBe(0.5);
  expect(recordOf({ ...least, cro_veto_enabled: true })).toMatchObject({
    cro_veto_timeout_ms: 2_000,
    cro_veto_on_timeout: "DENY",
  });
  expect(recordOf({ ...least, repeated_execution_max: 5 }).repeated_execution_window_s).toBe(60);
});

test("what the engine writes is not taken from the caller, the reason is", () => {
  const record = recordOf({ ...least, updated_by: "mallory", updated_at: "yesterday", hash: "x", reason: "calmer" });
  expect(record).not.toHaveProperty("updated_by");
  expect(record).not.toHaveProperty("updated_at");
  expect(record).not.toHaveProperty("hash");
  expect(record.reason).toBe("calmer");
});

test.each([
  "max_position_pct",
  "daily_loss_halt_pct",
  "weekly_loss_halt_pct",
  "monthly_loss_halt_pct",
  "synthetic_stop_pct",
  "max_notional",
] as const)("%s has no default", (field) => {
  expect(mistakes({ [field]: undefined })).toMatch(new RegExp(`^${field} is missing: give [^.]*`));
});

const outOfRange: readonly (readonly [keyof RiskEnvelopeMessage, readonly unknown[]])[] = [
  ["fund_id", ["", "a b", "x".repeat(129)]],
  ["version", [-1, 1.5]],
  ["max_position_pct", [-0.01, 10.1, Number.NaN, Infinity, 1e-19]],
  ["daily_loss_halt_pct", [0, -1, 1.01]],
  ["weekly_loss_halt_pct", [0, 2]],
  ["monthly_loss_halt_pct", [0, 2]],
  ["synthetic_stop_pct", [0, 1, 1.5]],
  ["max_notional", [-1, 1e21, Number.NaN]],
  ["allowed_brokers", [[""], ["two\nlines"], Array.from({ length: 101 }, (_, index) => `b${index}`)]],
  ["allowed_order_types", [["PEGGED"]]],
  ["allowed_asset_classes", [["FUTURE"]]],
  ["max_gross_exposure_pct", [-1, 11]],
  ["max_net_exposure_pct", [-1]],
  ["max_borrow_fee_pct", [-0.1, 1.1]],
  ["price_collar_pct", [0, 1]],
  ["exit_collar_pct", [0, -0.1, 0.91, Number.NaN]],
  ["strict_sides", ["no", 1]],
  ["order_rate_max_per_s", [0, 1.5, 100_001]],
  ["strategy_loss_halt_pct", [0, 1.1]],
  ["rolling_24h_loss_halt_pct", [0, 1.1]],
  ["rolling_5d_loss_halt_pct", [0, 1.1]],
  ["high_water_loss_halt_pct", [0, 1.1]],
  ["repeated_execution_max", [0, 1_000_001]],
  ["reason", ["x".repeat(2_001), "a\tb"]],
];

test.each(outOfRange)("%s out of its range is named", (field, values) => {
  for (const value of values) {
    const reported = mistakes({ [field]: value });
    expect(reported, String(value)).toMatch(new RegExp(`^${field} is `));
    expect(reported.length).toBeLessThan(300);
  }
});

test("a sector's limit is named with its sector", () => {
  expect(mistakes({ sector_limits_pct: { tech: -1 } })).toMatch(/^sector_limits_pct\.tech is -1: /);
  expect(mistakes({ sector_limits_pct: { tech: 1.5 } })).toMatch(
    /^sector_limits_pct\.tech \(1\.5\) is above max_gross/,
  );
  expect(mistakes({ sector_limits_pct: JSON.parse('{"__proto__": 0.1}') })).toMatch(/no name for a sector/);
  const many = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`s${index}`, 0.1]));
  expect(mistakes({ sector_limits_pct: many })).toMatch(/names 101 sectors: name at most 100/);
});

test.each([
  ["daily above weekly", { daily_loss_halt_pct: 0.05 }, /daily_loss_halt_pct \(0.05\) is above weekly_loss_halt_pct/],
  ["weekly above monthly", { weekly_loss_halt_pct: 0.07 }, /weekly_loss_halt_pct \(0.07\) is above monthly/],
  ["daily above 24 hours", { rolling_24h_loss_halt_pct: 0.01 }, /daily_loss_halt_pct \(0.02\) is above rolling_24h/],
  [
    "24 hours above 5 days",
    { rolling_24h_loss_halt_pct: 0.05, rolling_5d_loss_halt_pct: 0.03 },
    /rolling_24h_loss_halt_pct \(0.05\) is above rolling_5d/,
  ],
  ["daily above high water", { high_water_loss_halt_pct: 0.01 }, /daily_loss_halt_pct \(0.02\) is above high_water/],
  ["net above gross", { max_gross_exposure_pct: 0.5, max_net_exposure_pct: 0.6 }, /max_net_exposure_pct \(0.6\) is/],
  ["position above gross", { max_position_pct: 1.2 }, /max_position_pct \(1.2\) is above max_gross_exposure_pct \(1\)/],
  [
    "time without an officer",
    { cro_veto_timeout_ms: 500 },
    /cro_veto_timeout_ms is given, but cro_veto_enabled is not/,
  ],
  ["policy without an officer", { cro_veto_on_timeout: "DENY" }, /cro_veto_on_timeout is given, but cro_veto_enabled/],
  ["unknown policy", { cro_veto_enabled: true, cro_veto_on_timeout: "SHRUG" }, /cro_veto_on_timeout is "SHRUG": give/],
  ["no time for the officer", { cro_veto_enabled: true, cro_veto_timeout_ms: 0 }, /cro_veto_timeout_ms is 0: give/],
  ["window without a throttle", { repeated_execution_window_s: 5 }, /window_s is given without repeated_execution_max/],
  ["empty window", { repeated_execution_max: 1, repeated_execution_window_s: 0 }, /window_s is 0: give whole seconds/],
  ["a broker twice", { allowed_brokers: ["paper", "paper"] }, /^allowed_brokers names "paper" more than once/],
] as const)("together: %s", (_name, changed, reported) => {
  expect(mistakes(changed)).toMatch(reported);
});

test("exactly equal limits are no contradiction", () => {
  const equal = { daily_loss_halt_pct: 0.06, weekly_loss_halt_pct: 0.06, max_position_pct: 1, max_net_exposure_pct: 1 };
  expect(mistakes(equal)).toBe("");
});

test("every mistake is reported in one answer, and an answer stays readable", () => {
  const reported = mistakes({ max_position_pct: 70, daily_loss_halt_pct: undefined, allowed_order_types: ["PEGGED"] });
  expect(reported).toMatch(/max_position_pct is 70: give a share of NAV from 0 to 10, where 0.07 is 7 %\./);
  expect(reported).toMatch(/daily_loss_halt_pct is missing/);
  expect(reported).toMatch(/allowed_order_types is "PEGGED"/);
  const sectors = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`${index}`.padEnd(300, "x"), -1]));
  const many = mistakes({ sector_limits_pct: sectors });
  expect(many).toMatch(/There are [0-9]+ more mistakes\.$/);
  expect(many.length).toBeLessThan(10_000);
});

test("whatever is read matches the record's schema, and the message says the same as the record", () => {
  const fraction = fc.double({ min: -0.1, max: 1.2, noNaN: false });
  fc.assert(
    fc.property(fraction, fraction, fraction, fc.double(), (position, gross, daily, notional) => {
      const changed = { max_position_pct: position, max_gross_exposure_pct: gross, daily_loss_halt_pct: daily };
      const read = readEnvelope({ ...least, ...changed, max_notional: notional });
      if (!("record" in read)) {
        expect(read.reason).not.toBe("");
        return;
      }
      expect(riskEnvelope.safeParse(read.record).success).toBe(true);
      const wire = RiskEnvelopeMessage.encode(envelopeMessage(read.record)).finish();
      expect(readEnvelope(RiskEnvelopeMessage.decode(wire))).toEqual(read);
      expect(decimal.toNumber(toDecimal(compileEnvelope(read.record).maxPosition))).toBe(position + 0);
    }),
    { seed: 4, numRuns: inputCount(300) },
  );
});

test("22.4: the collar of exits is four times the other one, at most 0.9, and never below the other one", () => {
  const collarOf = (limits: Partial<RiskEnvelopeMessage>) =>
    decimal.format(toDecimal(compileEnvelope(recordOf({ ...least, ...limits })).exitCollar));
  expect(collarOf({})).toBe("0.2");
  expect(collarOf({ price_collar_pct: 0.07 })).toBe("0.28");
  expect(collarOf({ price_collar_pct: 0.3 })).toBe("0.9");
  expect(collarOf({ price_collar_pct: 0.95 })).toBe("0.95");
  expect(collarOf({ exit_collar_pct: 0.06 })).toBe("0.06");
  expect(collarOf({ exit_collar_pct: 0.01 })).toBe("0.05");
  // What follows the other collar stays absent, so that it follows.
  expect(recordOf(least)).not.toHaveProperty("exit_collar_pct");
});

test("22.7: sides are strict unless somebody says otherwise", () => {
  expect(compileEnvelope(recordOf(least)).strictSides).toBe(true);
  expect(compileEnvelope(recordOf({ ...least, strict_sides: false })).strictSides).toBe(false);
  const { strict_sides: _, ...stored } = recordOf(least);
  expect(compileEnvelope(stored).strictSides).toBe(true);
});

test("the gates' form is exact, with the defaults of what is off", () => {
  const compiled = compileEnvelope(recordOf({ ...least, sector_limits_pct: { tech: 0.3 } }));
  expect(compiled).toMatchObject({
    fundId: "alpha",
    version: 2,
    maxPosition: parseAmount("0.07"),
    maxGrossExposure: parseAmount("1"),
    maxNetExposure: parseAmount("1"),
    maxNotional: parseAmount("250000"),
    maxBorrowFee: nothing,
    priceCollar: parseAmount("0.05"),
    orderRateMaxPerS: 50,
    shortingEnabled: false,
    haltAllowReduceOnly: true,
    repeatedExecutionMax: undefined,
    repeatedExecutionWindowMs: 60_000,
    croVetoEnabled: false,
    croVetoTimeoutMs: 2_000,
    croVetoOnTimeout: "DENY",
  });
  expect(compiled.sectorLimits).toEqual(new Map([["tech", parseAmount("0.3")]]));
  expect(compiled.allowedOrderTypes).toEqual(new Set(["MARKET", "LIMIT"]));
});

test("the hash is of sorted JSON, covers who, when and why, and stays what it was", () => {
  const asked = recordOf({ ...least, sector_limits_pct: { tech: 0.3, "10": 0.2, "9": 0.1 }, reason: "calmer" });
  // As it was stored before there was this field.
  const { strict_sides: _, ...record } = asked;
  const stamped: RiskEnvelope = { ...record, updated_by: "operator:duty", updated_at: "2026-11-16T14:30:00.000000Z" };
  const text = envelopeHashText(stamped);
  expect(text).toBe(
    '{"allowed_asset_classes":["EQUITY"],"allowed_brokers":["paper"],"allowed_order_types":["MARKET","LIMIT"],' +
      '"daily_loss_halt_pct":0.02,"fund_id":"alpha","halt_allow_reduce_only":true,"max_borrow_fee_pct":0,' +
      '"max_gross_exposure_pct":1,"max_net_exposure_pct":1,"max_notional":250000,"max_position_pct":0.07,' +
      '"monthly_loss_halt_pct":0.06,"order_rate_max_per_s":50,"price_collar_pct":0.05,"reason":"calmer",' +
      '"sector_limits_pct":{"10":0.2,"9":0.1,"tech":0.3},"shorting_enabled":false,"synthetic_stop_pct":0.05,' +
      '"updated_at":"2026-11-16T14:30:00.000000Z","updated_by":"operator:duty","version":2,"weekly_loss_halt_pct":0.04}',
  );
  const digest = createHash("sha256").update(text).digest("hex");
  expect(digest).toBe("d6ae7e67e64f07421732c5c7f80260c234d166a64a3b15121f37665d3ec15727");
  expect(envelopeHashText({ ...stamped, hash: digest })).toBe(text);
  const backwards = Object.fromEntries(Object.entries(stamped).reverse()) as RiskEnvelope;
  expect(envelopeHashText(backwards)).toBe(text);
  for (const field of Object.keys(stamped)) {
    const { [field as keyof RiskEnvelope]: _, ...without } = stamped;
    expect(envelopeHashText(without as RiskEnvelope), field).not.toBe(text);
  }
});

test("the document has a row for every field, with the defaults that apply, and an example that is accepted", async () => {
  const document = await readFile(new URL("../../docs/envelope.md", import.meta.url), "utf8");
  const rows = document.split("\n").filter((line) => line.startsWith("| `"));
  for (const field of Object.keys(riskEnvelope.shape)) {
    expect(
      rows.filter((row) => row.split("|")[1]?.includes(`\`${field}\``)),
      field,
    ).toHaveLength(1);
  }
  for (const [field, value] of Object.entries(envelopeDefaults)) {
    const stated = rows.find((row) => row.includes(`\`${field}\``))?.split("|")[4] ?? "";
    expect(stated.replaceAll(",", "").trim().split(/[ :]/)[0], field).toBe(String(value));
  }
  const example: unknown = JSON.parse(/```json\n(.*?)```/s.exec(document)?.[1] ?? "null");
  expect(mistakes(example as Partial<RiskEnvelopeMessage>)).toBe("");
});

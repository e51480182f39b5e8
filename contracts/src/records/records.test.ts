// Every record against its example, its unknown keys and bad input of every kind.
import { describe, expect, test } from "vitest";
import type { z } from "zod";
import * as examples from "../../../testkit/record-examples.ts";
import { envelopeRequest, riskEnvelope } from "./envelope.ts";
import { fundStatus, navUpdated } from "./fund.ts";
import { haltRequest, haltResponse, haltStatus, resumeRequest } from "./halt.ts";
import { bar, instrument, mark, quote } from "./market.ts";
import { auditAppend, auditEntry, watchdogAlarm } from "./operations.ts";
import { decisionMade, fill, order, orderCreated, orderRejection, orderTransition, riskDecision } from "./order.ts";

const accepts = (schema: z.ZodType, value: unknown): boolean => schema.safeParse(value).success;

/** Schemas that refuse unknown keys, because they ask for something. */
const asking: readonly (readonly [string, z.ZodType, object])[] = [
  ["order", order, examples.exampleOrder],
  ["riskEnvelope", riskEnvelope, examples.exampleEnvelope],
  ["envelopeRequest", envelopeRequest, { fund_id: "alpha" }],
  ["haltRequest", haltRequest, examples.exampleHalt],
  ["resumeRequest", resumeRequest, examples.exampleResume],
  ["auditAppend", auditAppend, { actor: "oms", action: "x", subject_id: "", data: {} }],
];

/** Schemas that drop unknown keys, because they report something. */
const reporting: readonly (readonly [string, z.ZodType, object])[] = [
  ["riskDecision", riskDecision, examples.exampleDecision],
  ["orderRejection", orderRejection, examples.exampleRejection],
  ["orderCreated", orderCreated, examples.exampleOrder],
  ["orderTransition", orderTransition, examples.exampleTransition],
  ["fill", fill, examples.exampleFill],
  ["haltResponse", haltResponse, examples.exampleHaltResponse],
  ["haltStatus", haltStatus, examples.exampleHaltStatus],
  ["auditEntry", auditEntry, examples.exampleAuditEntry],
  ["quote", quote, examples.exampleQuote],
  ["mark", mark, examples.exampleMark],
  ["bar", bar, examples.exampleBar],
  ["instrument", instrument, examples.exampleInstrument],
  ["fundStatus", fundStatus, examples.exampleFund],
  ["navUpdated", navUpdated, examples.exampleNav],
  ["watchdogAlarm", watchdogAlarm, examples.exampleWatchdogAlarm],
];

describe.each([...asking, ...reporting])("%s", (_name, schema, example) => {
  test("its example passes unchanged, also after a trip through JSON", () => {
    expect(schema.parse(example)).toEqual(example);
    expect(schema.parse(JSON.parse(JSON.stringify(example)))).toEqual(example);
  });

  test.each([undefined, null, "", 0, [], "[object Object]", Number.NaN])("it is not %j", (value) => {
    expect(accepts(schema, value)).toBe(false);
  });

  test("no field may change its kind", () => {
    for (const key of Object.keys(example)) {
      expect(accepts(schema, { ...example, [key]: Symbol("wrong") }), key).toBe(false);
      // A watchdog that cannot compute its value says null, with a reason.
      const mayBeNull = schema === watchdogAlarm && key === "value";
      expect(accepts(schema, { ...example, [key]: null }), key).toBe(mayBeNull);
    }
  });
});

test.each(asking)("%s refuses an unknown key", (_name, schema, example) => {
  expect(accepts(schema, { ...example, max_postion_pct: 1 })).toBe(false);
});

test.each(reporting)("%s drops an unknown key", (_name, schema, example) => {
  expect(schema.parse({ ...example, from_the_future: 1 })).toEqual(example);
});

describe("an order", () => {
  const { exampleOrder } = examples;

  test.each<[string, object]>([
    ["without a key", { idempotency_key: "" }],
    ["with a key that has a line break", { idempotency_key: "a\nb" }],
    ["with an overlong key", { idempotency_key: "k".repeat(201) }],
    ["without an id", { order_id: "" }],
    ["with a space in its id", { order_id: "o 1" }],
    ["with an overlong id", { order_id: "o".repeat(129) }],
    ["with a lower-case symbol", { symbol: "aapl" }],
    ["with an unknown side", { side: "buy" }],
    ["with an unknown type", { order_type: "TRAILING" }],
    ["with an unknown time in force", { tif: "GTX" }],
    ["with an unknown asset class", { asset_class: "FX" }],
    ["of nothing", { quantity: "0" }],
    ["of less than nothing", { quantity: "-1" }],
    ["with an exponent", { quantity: "1e3" }],
    ["with a number for a decimal", { quantity: 100 }],
    ["with a price that is no decimal", { limit_price: "NaN" }],
    ["with a notional that is not finite", { notional: Number.POSITIVE_INFINITY }],
    ["with a notional that is not a number", { notional: Number.NaN }],
    ["with a negative notional", { notional: -1 }],
    ["with a notional beyond exactness", { notional: 1e21 }],
    ["with a notional as text", { notional: "18925" }],
    ["with a time that does not exist", { created_at: "2026-02-30T00:00:00Z" }],
    ["with a terminal escape in its actor", { actor: "x\u001b[2J" }],
    ["with an endless thesis", { thesis: "x".repeat(4_097) }],
    ["with a word for a truth value", { reduce_only: "true" }],
  ])("%s is refused", (_name, change) => {
    expect(accepts(order, { ...exampleOrder, ...change })).toBe(false);
  });

  test("an unknown broker is the static gate's business", () => {
    expect(accepts(order, { ...exampleOrder, broker: "ccxt:kraken" })).toBe(true);
    expect(accepts(order, { ...exampleOrder, broker: "nobody" })).toBe(true);
  });

  test("a denied order is recorded as it was asked, however wrong it is", () => {
    const made = { order: { quantity: "1e3", side: "sideways" }, decision: examples.exampleDecision };
    expect(decisionMade.parse(made)).toEqual(made);
  });
});

describe("an envelope", () => {
  test.each<[string, object]>([
    ["percent instead of a fraction", { daily_loss_halt_pct: 2 }],
    ["a limit of no loss", { daily_loss_halt_pct: 0 }],
    ["a negative limit", { max_position_pct: -0.01 }],
    ["700 instead of 7 %", { max_position_pct: 700 }],
    ["NaN", { max_position_pct: Number.NaN }],
    ["infinity", { max_notional: Number.POSITIVE_INFINITY }],
    ["text", { max_position_pct: "0.07" }],
    ["a fraction of a version", { version: 1.5 }],
    ["a negative version", { version: -1 }],
    ["an unknown order type", { allowed_order_types: ["ICEBERG"] }],
    ["a sector's limit as text", { sector_limits_pct: { technology: "0.4" } }],
    ["a rate of none", { order_rate_max_per_s: 0 }],
    ["an absent limit", { max_gross_exposure_pct: undefined }],
  ])("%s is refused", (_name, change) => {
    expect(accepts(riskEnvelope, { ...examples.exampleEnvelope, ...change })).toBe(false);
  });
});

describe("a halt's scope", () => {
  const base = { reason: "manual", requested_by: "operator:duty" };

  test.each<[string, object, boolean]>([
    ["strategy, named", { severity: "STRATEGY_HALT", fund_id: "alpha", strategy_id: "alpha-momentum" }, true],
    ["strategy, its fund left to us", { severity: "STRATEGY_HALT", fund_id: "", strategy_id: "alpha-momentum" }, true],
    ["strategy, not named", { severity: "STRATEGY_HALT", fund_id: "alpha" }, false],
    ["fund, named", { severity: "FUND_HALT", fund_id: "alpha" }, true],
    ["fund, not named", { severity: "FUND_HALT", fund_id: "" }, false],
    [
      "fund, with a strategy that it covers anyway",
      { severity: "FUND_HALT", fund_id: "alpha", strategy_id: "alpha-momentum" },
      true,
    ],
    ["firm", { severity: "FIRM_HALT", fund_id: "" }, true],
    ["firm, with a fund that it covers anyway", { severity: "FIRM_HALT", fund_id: "alpha" }, true],
    ["no level", { severity: "SEVERITY_UNSPECIFIED", fund_id: "" }, false],
    ["a number for a level", { severity: 3, fund_id: "" }, false],
  ])("%s", (_name, scope, wanted) => {
    expect(accepts(haltRequest, { ...base, ...scope })).toBe(wanted);
  });
});

describe("an audit entry", () => {
  test.each<[string, object]>([
    ["a hash in capitals", { hash: "A".repeat(64) }],
    ["a short hash", { prev_hash: "0".repeat(63) }],
    ["a sequence beyond exactness", { sequence: 2 ** 53 }],
    ["data that is a list", { data: [] }],
    ["data that JSON cannot carry", { data: { at: new Date(0) } }],
    ["data with a bigint", { data: { n: 1n } }],
  ])("%s is refused", (_name, change) => {
    expect(accepts(auditEntry, { ...examples.exampleAuditEntry, ...change })).toBe(false);
  });
});

test("an instrument has steps above zero", () => {
  for (const key of ["tick_size", "lot_size", "multiplier"]) {
    for (const wrong of ["0", "-0.01", "", "tiny"]) {
      expect(accepts(instrument, { ...examples.exampleInstrument, [key]: wrong }), `${key} ${wrong}`).toBe(false);
    }
  }
});

// The pipeline as a whole: every code can be reached, the order of the gates, and what a reduction, an increase and a flip must pass.
import { describe, expect, test } from "vitest";
import { gateDenials } from "../../contracts/src/codes/denials.ts";
import type { DenialCode } from "../../contracts/src/codes.ts";
import { gateName } from "../../contracts/src/records/values.ts";
import { d, judge, type Spoil } from "../../testkit/passing-order.ts";
import { conditions } from "../blocks/index.ts";
import { type Exact, product, toExact } from "../money/exact.ts";
import type { StandingCondition } from "../state/standing-condition.ts";
import type { OptionView, RestrictedBy, RestrictionView } from "../state/view.ts";
import { gates } from "./index.ts";

const usd = (text: string): Exact => toExact(product(d(text), d("1")));

interface Row {
  readonly spoil: Spoil;
  readonly without?: "envelope" | "instrument";
}

const order = (changes: object): Row => ({ spoil: (draft) => Object.assign(draft.order, changes) });
const view = (changes: object): Row => ({ spoil: (draft) => Object.assign(draft.view, changes) });
const envelope = (changes: object): Row => ({ spoil: (draft) => Object.assign(draft.envelope, changes) });
const instrument = (changes: object): Row => ({ spoil: (draft) => Object.assign(draft.instrument, changes) });
const verdict = (kind: string): Row => ({
  spoil: (draft) => Object.assign(draft.view, { verdict: { ...draft.view.verdict, kind } }),
});
const short = (changes: object): Row => ({
  spoil: (draft) => {
    draft.order.side = "SELL_SHORT";
    Object.assign(draft.view, changes);
  },
});

/** An order in an underlying whose options do nothing. */
const unconcerned: OptionView = {
  underlying: "AAPL",
  delta: undefined,
  deltaAgeMs: Number.NaN,
  netValue: undefined,
  isCall: undefined,
  groupOthers: usd("0"),
  unitStress: undefined,
  lossesOthers: { up: usd("0"), down: usd("0") },
  stressRest: usd("0"),
  owedOthers: d("0"),
  cover: d("0"),
  endsAt: Number.NaN,
};

const vpin: RestrictedBy = { restrictionId: "r-1", watchdog: "vpin", episodeId: "e-1" };
const unrestricted: RestrictionView = { noShortOptions: undefined, gross: undefined };
const restricted = (by: Partial<RestrictionView>): Row => view({ restrictions: { ...unrestricted, ...by } });
const stands = (code: DenialCode, reason: string, more: Partial<StandingCondition> = {}): Row =>
  view({ conditions: [{ code, reason, ...more }] });
const episode = "vpin in episode e-1";
const fill = { symbol: "AAPL", facts: [["block_id", "b-1"]] } as const;

/** One thing wrong with an order that passes, per code. */
const oneMistake: Readonly<Record<string, Row>> = {
  ...Object.fromEntries(conditions.map(({ code }) => [code, stands(code, "This is why.")])),

  DUPLICATE_KEY: view({ keySeen: "same order", keyAgeMs: 1_000 }),
  KEY_REUSED: view({ keySeen: "another order", keyAgeMs: 1_000 }),

  SCHEMA_FIELD_MISSING: order({ actor: "" }),
  SCHEMA_FIELD_INVALID: order({ order_id: "no spaces" }),
  SCHEMA_FIELD_TOO_LONG: order({ thesis: "x".repeat(4_097) }),
  SCHEMA_VALUE_UNKNOWN: order({ side: "HOLD" }),
  SCHEMA_DECIMAL_INVALID: order({ quantity: "1e3" }),
  SCHEMA_LIMIT_PRICE_MISSING: order({ limit_price: undefined }),
  SCHEMA_STOP_PRICE_MISSING: order({ order_type: "STOP", limit_price: undefined }),
  SCHEMA_EXPIRY_INVALID: order({ tif: "GTD" }),
  SCHEMA_NOTIONAL_MISMATCH: order({ notional: 1 }),
  SCHEMA_NOTIONAL_OVERFLOW: order({ quantity: "99999999999999999999" }),
  SCHEMA_SYMBOL_UNKNOWN: { spoil: () => undefined, without: "instrument" },
  SCHEMA_ASSET_CLASS_MISMATCH: order({ asset_class: "CRYPTO" }),
  SCHEMA_CURRENCY_MISMATCH: order({ currency: "EUR" }),
  SCHEMA_FUND_UNKNOWN: view({ fundKnown: false }),
  SCHEMA_STRATEGY_UNKNOWN: view({ strategyKnown: false }),
  SCHEMA_QUANTITY_OFF_LOT: order({ quantity: "100.5" }),
  SCHEMA_PRICE_OFF_TICK: order({ limit_price: "200.001" }),
  SCHEMA_SHORT_NOT_REDUCING: order({ reduce_only: true, side: "SELL_SHORT" }),
  SCHEMA_REDUCE_ONLY_UNPROVEN: order({ reduce_only: true }),
  SCHEMA_AMENDMENT_MISMATCH: view({ amends: true, amendsAnother: true }),
  ORDER_NOT_YOURS: view({ amends: true, amendsAnother: true, amendRefusal: "not yours" }),
  SCHEMA_CREATED_AT_IMPLAUSIBLE: order({ created_at: "2026-11-16T15:05:00.000001Z" }),

  ENVELOPE_MISSING: { spoil: () => undefined, without: "envelope" },
  BROKER_NOT_ALLOWED: order({ broker: "ccxt:kraken" }),
  ORDER_TYPE_NOT_ALLOWED: envelope({ allowed_order_types: ["MARKET"] }),
  ASSET_CLASS_NOT_ALLOWED: envelope({ allowed_asset_classes: [] }),
  NOTIONAL_ABOVE_MAX: envelope({ max_notional: 19_999.99 }),
  PRICE_OUTSIDE_COLLAR: order({ limit_price: "210.01" }),
  SYMBOL_RESTRICTED: instrument({ restriction: "earnings week" }),
  OPTION_EXPIRED: view({ option: { ...unconcerned, endsAt: 0 } }),
  ORDER_RATE_EXCEEDED: view({ strategyOrdersInSecond: 50 }),
  OPEN_ORDERS_EXCEEDED: view({ openOrders: 1_000 }),
  REFERENCE_PRICE_MISSING: view({ price: undefined }),
  REFERENCE_PRICE_STALE: view({ priceAgeMs: 10_001 }),
  FX_RATE_MISSING: view({ fxRate: undefined, fundCurrency: "EUR" }),
  FX_RATE_STALE: view({ fxRate: d("0.9"), fundCurrency: "EUR", fxAgeMs: 3_600_001 }),

  POSITION_LIMIT_EXCEEDED: view({ position: d("3401") }),
  GROSS_EXPOSURE_EXCEEDED: view({ grossOthers: usd("14980000.01") }),
  GROSS_EXPOSURE_REDUCED: restricted({ gross: { ...vpin, allowed: usd("19999.99") } }),
  NET_EXPOSURE_EXCEEDED: view({ netHighOthers: usd("9980000.01") }),
  SECTOR_LIMIT_EXCEEDED: view({ sectorOthers: usd("3980000.01") }),
  NAV_MISSING: view({ nav: undefined }),
  NAV_STALE: view({ navAgeMs: 60_001 }),
  NAV_NOT_POSITIVE: view({ nav: d("0") }),
  MARK_MISSING: view({ unpricedSymbol: "MSFT" }),
  MARK_STALE: view({ oldestPriceAgeMs: 10_001 }),
  STRESS_LOSS_EXCEEDED: {
    spoil: (draft) => {
      draft.envelope.max_stress_loss_pct = 0.1;
      draft.view.option = { ...unconcerned, stressRest: usd("1000000"), unitStress: { up: d("-1"), down: d("1") } };
    },
  },
  DELTA_MISSING: view({ unpricedSymbol: "SPY-C500", unpricedRate: "delta", unpricedRateAgeMs: Number.NaN }),
  DELTA_STALE: view({ unpricedSymbol: "SPY-C500", unpricedRate: "delta", unpricedRateAgeMs: 10_001 }),
  EXPOSURE_OVERFLOW: view({ grossOthers: usd("99999999999999999999") }),

  FIRM_HALTED: view({ halt: "FIRM_HALT", haltId: "halt-1", haltReason: "fire drill" }),
  FUND_HALTED: view({ halt: "FUND_HALT", haltId: "halt-1" }),
  STRATEGY_HALTED: view({ halt: "STRATEGY_HALT", haltId: "halt-1" }),
  STRATEGY_REDUCTION_UNPROVEN: {
    spoil: (draft) => [
      Object.assign(draft.order, { reduce_only: true, side: "SELL" }),
      Object.assign(draft.view, { halt: "STRATEGY_HALT", haltId: "halt-1", strategyHalted: true, position: d("100") }),
    ],
  },
  HALT_STATE_UNKNOWN: view({ haltsKnown: false }),

  COVER_EXCEEDS_SHORT: order({ side: "BUY_TO_COVER" }),
  SELL_EXCEEDS_LONG: order({ side: "SELL" }),
  EXIT_HAS_PRIORITY: view({ exitWaits: "stop-1" }),
  EXIT_EXCEEDS_STRATEGY: {
    spoil: (draft) => [
      Object.assign(draft.order, { reduce_only: true, side: "SELL" }),
      Object.assign(draft.view, { position: d("100"), strategyPosition: d("99") }),
    ],
  },
  SHORT_WHILE_LONG: short({ position: d("1") }),
  BUY_CROSSES_ZERO: view({ position: d("-99") }),
  SHORTING_DISABLED: {
    spoil: (draft) => {
      draft.order.side = "SELL_SHORT";
      draft.envelope.shorting_enabled = false;
    },
  },
  SHORT_OPTIONS_BLOCKED: {
    spoil: (draft) => {
      Object.assign(draft.order, { side: "SELL_SHORT", asset_class: "OPTION" });
      Object.assign(draft.instrument, { assetClass: "OPTION" });
      draft.envelope.allowed_asset_classes = ["OPTION"];
      draft.view.restrictions = { ...unrestricted, noShortOptions: vpin };
    },
  },
  BORROW_UNAVAILABLE: short({ borrowAvailable: d("99") }),
  BORROW_FEE_EXCEEDED: short({ borrowFee: d("0.0301") }),
  BORROW_MISSING: short({ borrowAvailable: undefined }),
  BORROW_STALE: short({ borrowAgeMs: 86_400_001 }),

  RISK_OFFICER_VETO: verdict("veto"),
  RISK_OFFICER_TIMEOUT: verdict("timeout"),
  RISK_OFFICER_UNREADABLE: verdict("unreadable"),
};

const everyDenial = Object.entries(gateDenials).flatMap(([gate, codes]) =>
  Object.keys(codes).map((code) => [code, gate] as const),
);

test("the seven stand in the order of the specification", () => {
  const specified = "idempotency schema static position_risk drawdown_halt short_side cro_veto";
  expect(gates.map((gate) => gate.name).join(" ")).toBe(specified);
  expect(gateName.options.join(" ")).toBe(specified);
  for (const gate of gates) expect(gate.question).toMatch(/\?$/);
});

test("the order that the cases spoil passes as it is, a sale short too", () => {
  expect(judge(() => undefined)).toMatchObject({ approved: true, code: "" });
  expect(judge(({ order }) => Object.assign(order, { side: "SELL_SHORT" }))).toMatchObject({
    approved: true,
    code: "",
  });
});

test("every code of the registry has its case, and no case is left over", () => {
  expect(Object.keys(oneMistake).sort()).toEqual(everyDenial.map(([code]) => code).sort());
});

test.each(everyDenial)("%s is said by %s", (code, gate) => {
  const row = oneMistake[code];
  if (row === undefined) throw new Error(`no case for ${code}`);
  const outcome = judge(row.spoil, row.without === undefined ? {} : { [row.without]: false });
  expect({ code: outcome.code, gate: outcome.gate, reason: outcome.reason }).toMatchObject({ code, gate });
  expect(outcome.reason).toMatch(/^[^\n]{10,}\.$/);
  expect(outcome.figures.size).toBeGreaterThan(0);
});

test("an earlier gate decides before a later one", () => {
  const everythingWrong: Spoil = (draft) => {
    draft.view.halt = "FIRM_HALT";
    draft.view.nav = undefined;
    draft.envelope.allowed_brokers = [];
  };
  expect(judge(everythingWrong).code).toBe("BROKER_NOT_ALLOWED");
  expect(judge((draft) => [everythingWrong(draft), Object.assign(draft.order, { side: "HOLD" })]).gate).toBe("schema");
  const alsoSeen: Spoil = (draft) => {
    everythingWrong(draft);
    draft.order.side = "";
    draft.view.keySeen = "same order";
  };
  expect(judge(alsoSeen).code).toBe("DUPLICATE_KEY");
});

/** Long 100, and an order that buys more, sells a part, or sells through zero. */
const increase: Spoil = ({ view }) => Object.assign(view, { position: d("100") });
const reduce: Spoil = ({ order, view }) => {
  Object.assign(order, { side: "SELL", quantity: "50" });
  view.position = d("100");
};
const exit: Spoil = (draft) => {
  reduce(draft);
  draft.order.reduce_only = true;
};
const flip: Spoil = ({ order, view, envelope }) => {
  Object.assign(order, { side: "SELL", quantity: "150" });
  view.position = d("100");
  envelope.strict_sides = false;
};

interface HouseRow {
  readonly check: string;
  readonly spoil: Spoil;
  readonly INCREASE: string;
  /** Not marked, and marked. */
  readonly REDUCE: string;
  readonly EXIT: string;
  readonly FLIP?: string;
  readonly without?: "envelope" | "instrument";
}

type Rule = (check: string, code: string, row: Row) => HouseRow;
const all: Rule = (check, code, row) => ({ check, ...row, INCREASE: code, REDUCE: code, EXIT: code });
const unlessMarked: Rule = (check, code, row) => ({ check, ...row, INCREASE: code, REDUCE: code, EXIT: "" });
const newRiskOnly: Rule = (check, code, row) => ({ check, ...row, INCREASE: code, REDUCE: "", EXIT: "" });

const houseTable: readonly HouseRow[] = [
  all("idempotency", "DUPLICATE_KEY", view({ keySeen: "same order" })),
  all("schema", "SCHEMA_FIELD_MISSING", order({ actor: "" })),
  all("known fund", "SCHEMA_FUND_UNKNOWN", view({ fundKnown: false })),
  all("known instrument", "SCHEMA_SYMBOL_UNKNOWN", { spoil: () => undefined, without: "instrument" }),
  all("tick", "SCHEMA_PRICE_OFF_TICK", order({ limit_price: "200.001" })),
  {
    check: "size at most the position, when claimed",
    ...order({ reduce_only: true }),
    INCREASE: "SCHEMA_REDUCE_ONLY_UNPROVEN",
    REDUCE: "",
    EXIT: "",
  },
  all("lot, unless all is closed", "SCHEMA_QUANTITY_OFF_LOT", instrument({ lotSize: d("7") })),
  all("envelope", "ENVELOPE_MISSING", { spoil: () => undefined, without: "envelope" }),
  all("allowed broker that holds nothing", "BROKER_NOT_ALLOWED", order({ broker: "alpaca" })),
  unlessMarked("allowed broker that holds it", "BROKER_NOT_ALLOWED", {
    spoil: (draft) => [
      Object.assign(draft.order, { broker: "alpaca" }),
      Object.assign(draft.view, { heldAtBroker: true }),
    ],
  }),
  all("allowed order type", "ORDER_TYPE_NOT_ALLOWED", envelope({ allowed_order_types: [] })),
  unlessMarked("allowed asset class", "ASSET_CLASS_NOT_ALLOWED", envelope({ allowed_asset_classes: [] })),
  unlessMarked("strategy of the fund", "SCHEMA_STRATEGY_UNKNOWN", view({ strategyKnown: false })),
  unlessMarked("max notional", "NOTIONAL_ABOVE_MAX", envelope({ max_notional: 1 })),
  unlessMarked("collar", "PRICE_OUTSIDE_COLLAR", order({ limit_price: "240" })),
  all("collar of exits", "PRICE_OUTSIDE_COLLAR", order({ limit_price: "240.01" })),
  unlessMarked("order rate of the strategy", "ORDER_RATE_EXCEEDED", view({ strategyOrdersInSecond: 50 })),
  unlessMarked("order rate of the fund", "ORDER_RATE_EXCEEDED", view({ fundOrdersInSecond: 50 })),
  unlessMarked("throttle that tripped", "THROTTLE_TRIPPED", stands("THROTTLE_TRIPPED", "")),
  unlessMarked("throttle that trips", "THROTTLE_TRIPPED", view({ repeatedExecutions: 20 })),
  newRiskOnly("restricted list", "SYMBOL_RESTRICTED", instrument({ restriction: "insiders" })),
  all(
    "23.4: corporate action",
    "CORPORATE_ACTION_UNDER_WAY",
    stands("CORPORATE_ACTION_UNDER_WAY", "corporate action split-1 (SPLIT) is under way"),
  ),
  newRiskOnly("symbol that differs from the broker", "SYMBOL_BLOCKED", stands("SYMBOL_BLOCKED", "10 here, 12 there.")),
  newRiskOnly(
    "28.5: fill that nobody accepted",
    "FILL_NOT_ACCEPTED",
    stands("FILL_NOT_ACCEPTED", "Fill f is far off.", { ...fill, symbol: undefined, count: 3 }),
  ),
  newRiskOnly("throttle of a watchdog", "AGGRESSIVE_THROTTLED", stands("AGGRESSIVE_THROTTLED", episode)),
  newRiskOnly("cooldown of a watchdog", "NEWS_COOLDOWN", stands("NEWS_COOLDOWN", episode)),
  newRiskOnly("shadow of a watchdog", "STRATEGY_SHADOWED", stands("STRATEGY_SHADOWED", episode)),
  newRiskOnly("restrictions that nobody knows", "RESTRICTIONS_UNKNOWN", stands("RESTRICTIONS_UNKNOWN", "")),
  newRiskOnly("gross of a watchdog", "GROSS_EXPOSURE_REDUCED", restricted({ gross: { ...vpin, allowed: usd("0") } })),
  unlessMarked("open orders", "OPEN_ORDERS_EXCEEDED", view({ openOrders: 1_000 })),
  unlessMarked("price", "REFERENCE_PRICE_MISSING", view({ price: undefined })),
  unlessMarked("fresh price", "REFERENCE_PRICE_STALE", view({ priceAgeMs: 60_000 })),
  unlessMarked("exchange rate", "FX_RATE_MISSING", view({ fundCurrency: "EUR", fxRate: undefined })),
  newRiskOnly("NAV", "NAV_MISSING", view({ nav: undefined })),
  newRiskOnly("NAV above zero", "NAV_NOT_POSITIVE", view({ nav: d("-5") })),
  newRiskOnly("fresh NAV", "NAV_STALE", view({ navAgeMs: Number.NaN })),
  newRiskOnly("prices of all positions", "MARK_MISSING", view({ unpricedSymbol: "MSFT" })),
  newRiskOnly("deltas of all options", "DELTA_MISSING", view({ unpricedSymbol: "SPY-C500", unpricedRate: "delta" })),
  newRiskOnly("position", "POSITION_LIMIT_EXCEEDED", envelope({ max_position_pct: 0 })),
  newRiskOnly("gross", "GROSS_EXPOSURE_EXCEEDED", view({ grossOthers: usd("20000000") })),
  newRiskOnly("net", "NET_EXPOSURE_EXCEEDED", view({ netHighOthers: usd("12000000") })),
  newRiskOnly("sector", "SECTOR_LIMIT_EXCEEDED", view({ sectorOthers: usd("5000000") })),
  unlessMarked("halt, not marked reduce_only", "FUND_HALTED", view({ halt: "FUND_HALT", haltId: "halt-1" })),
  unlessMarked("unknown halts, not marked reduce_only", "HALT_STATE_UNKNOWN", view({ haltsKnown: false })),
  {
    check: "short_side",
    ...envelope({ shorting_enabled: false }),
    INCREASE: "",
    REDUCE: "",
    EXIT: "",
    FLIP: "SHORTING_DISABLED",
  },
  {
    check: "sides, where they are strict",
    ...envelope({ strict_sides: true }),
    INCREASE: "",
    REDUCE: "",
    EXIT: "",
    FLIP: "SELL_EXCEEDS_LONG",
  },
  newRiskOnly("cro_veto", "RISK_OFFICER_VETO", verdict("veto")),
];

describe("what each kind of order must pass", () => {
  const kinds = { INCREASE: increase, REDUCE: reduce, FLIP: flip };
  test("22.4: EXIT passes when nothing is wrong", () => {
    expect(judge(exit)).toMatchObject({ approved: true, view: { classification: "REDUCE" } });
  });

  test.each(["INCREASE", "REDUCE", "FLIP"] as const)("%s passes when nothing is wrong", (kind) => {
    const outcome = judge(kinds[kind]);
    expect(outcome).toMatchObject({ approved: true, code: "" });
    expect(outcome.view.classification).toBe(kind);
  });

  test.each(houseTable)("$check", (row) => {
    const has = row.without === undefined ? {} : { [row.without]: false };
    const code = (kind: Spoil) => judge((draft) => [kind(draft), row.spoil(draft)], has).code;
    const { INCREASE, REDUCE, EXIT, FLIP = INCREASE } = row;
    expect([increase, reduce, exit, flip].map(code)).toEqual([INCREASE, REDUCE, EXIT, FLIP]);
  });

  test("a full close passes whatever the lot is", () => {
    const outcome = judge(({ order, view, instrument }) => {
      Object.assign(order, { side: "SELL", quantity: "10.5" });
      view.position = d("10.5");
      instrument.lotSize = d("1");
    });
    expect(outcome.code).toBe("");
  });
});

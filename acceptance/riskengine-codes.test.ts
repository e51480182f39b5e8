// Every word with which the risk engine can say no, said through gRPC by the running platform: each code of the registry has a way to
// reach it here, and none is left out. What is said to the caller, to the desk and on the bus must be one story.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type GateDenialCode, gateDenials } from "../contracts/src/codes/denials.ts";
import { parse } from "../contracts/src/decimal.ts";
import type { HaltRequest } from "../contracts/src/generated/svc/v1/halt.ts";
import type { Order, OrderRejection, RiskDecision } from "../contracts/src/generated/svc/v1/order.ts";
import type { Fill } from "../contracts/src/records/order.ts";
import type { NewRestriction } from "../contracts/src/records/restriction.ts";
import { subjects } from "../contracts/src/subjects.ts";
import { ampleEnvelope } from "../testkit/ample-envelope.ts";
import { eventually, within } from "../testkit/platform.ts";
import type { Answered } from "../testkit/risk/client.ts";
import {
  type FixturePlan,
  farWest,
  fillOf,
  fixtureOpenOrdersMax,
  now,
  openRiskFixture,
  type RiskFixture,
  stepOf,
  strategyOf,
} from "../testkit/risk/platform-fixture.ts";

const dayMs = 86_400_000;

const plan: FixturePlan = {
  funds: {
    plain: {},
    bare: { envelope: "none" },
    pace: { envelope: { order_rate_max_per_s: 1 } },
    crowd: {},
    roomy: {},
    twice: {},
    echo: { envelope: { repeated_execution_max: 1 } },
    unvalued: { nav: "none" },
    forgotten: { nav: { value: "10000000", ageMs: 1_200_000 } },
    broke: { nav: { value: "0" } },
    dark: { holds: { symbol: "DRK", quantity: "10" } },
    ages: { holds: { symbol: "OLD", quantity: "10" } },
    foreign: { holds: { symbol: "YEN", quantity: "10" } },
    vast: { holds: { symbol: "HLD", quantity: "9000000000000000000" } },
    position: { envelope: { max_position_pct: 0.001 } },
    gross: {
      envelope: { max_position_pct: 0.01, max_gross_exposure_pct: 0.01, max_net_exposure_pct: 0.01 },
      holds: { symbol: "HLD", quantity: "900" },
    },
    net: { envelope: { max_net_exposure_pct: 0.01 }, holds: { symbol: "HLD", quantity: "900" } },
    sector: { envelope: { sector_limits_pct: { fixture: 0.01 } }, holds: { symbol: "HLD", quantity: "900" } },
    stress: { envelope: { max_stress_loss_pct: 0.000_000_1 } },
    long: { envelope: { shorting_enabled: false } },
    owing: { holds: { symbol: "HLD", quantity: "-2" } },
    officer: { envelope: { cro_veto_enabled: true, cro_veto_timeout_ms: 400, cro_veto_on_timeout: "DENY" } },
    stopped: {},
    partly: {},
    // So small a loss that its value is explained: what is not would deny before it.
    losing: { envelope: { daily_loss_halt_pct: 0.04 } },
    overstated: {},
    moved: { calendar: farWest },
    exits: { holds: { symbol: "HLD", quantity: "10" } },
    shadowed: {},
    nobodys: { nav: "nobody's" },
    shrunk: {},
    decaying: {},
    audited: { holds: { symbol: "HLD", quantity: "100" } },
  },
  instruments: {
    AAA: { borrow: { available: "100000", fee: "0.01" } },
    HLD: {},
    SPL: {},
    FAR: {},
    LONE: {},
    FEES: {},
    ODD: {},
    LEG: {},
    SEEDS: {},
    JMP: { ageMs: "none" },
    HOT: {},
    COOL: {},
    DRK: { ageMs: "none" },
    OLD: { ageMs: 60_000 },
    FRA: { currency: "CHF" },
    YEN: { currency: "JPY" },
    RST: { restricted: "we know too much" },
    FEW: { borrow: { available: "10", fee: "0.01" } },
    FEE: { borrow: { available: "100000", fee: "0.5" } },
    CAL: { callOn: { underlying: "AAA", deltaAgeMs: 0 } },
    PAST: { callOn: { underlying: "AAA", deltaAgeMs: 0, expiry: "2020-12-18" } },
    NOD: { callOn: { underlying: "AAA", deltaAgeMs: "none" } },
    OLDD: { callOn: { underlying: "AAA", deltaAgeMs: 60_000 } },
    AGO: { borrow: { available: "100000", fee: "0.01", ageMs: 3 * dayMs } },
  },
  fx: [{ base: "JPY", rate: "0.0067", ageMs: 4 * 3_600_000 }],
  model: (prompt) => {
    if (prompt.includes("be silent")) return "silence";
    return prompt.includes("talk") ? "I would rather not say." : '{"verdict":"VETO","reason":"Not today."}';
  },
};

type Codes = typeof gateDenials;
type GateName = keyof Codes;

/** How a code is reached: an order that is spoilt in one place, and what must happen before. */
interface Way {
  /** What differs from an order that would pass. */
  readonly order: Partial<Order>;
  /** False where asking dry first would not give the same answer. */
  readonly settles?: false;
  /** Puts the world so, and may give what the order takes from it. */
  before?(fixture: RiskFixture): Promise<Partial<Order> | undefined>;
  /** Asked in the same moment, just before the order itself. */
  beside?(fixture: RiskFixture): Promise<unknown>;
  /** Has it all happen in a world that lasts only so long. */
  within?(fixture: RiskFixture, work: () => Promise<void>): Promise<void>;
}

type Ways = { readonly [Gate in GateName]: { readonly [Code in keyof Codes[Gate]]: Way } };

/** What an engine rightly says that could not look for seconds, because its machine stood still: it is asked again then. */
const stoodStill: ReadonlySet<string> = new Set(["HALT_STATE_UNKNOWN", "RESTRICTIONS_UNKNOWN", "RISK_OFFICER_TIMEOUT"]);

const approved = async (fixture: RiskFixture, differs: Partial<Order>): Promise<Order> => {
  let order = fixture.order(differs);
  let decision = await fixture.client.check(order);
  await eventually("the engine has looked again", async () => {
    if (!stoodStill.has(decision.code)) return true;
    order = fixture.order(differs);
    decision = await fixture.client.check(order);
    return false;
  });
  expect([decision.code, decision.approved]).toEqual(["", true]);
  return order;
};

/** Waits until such an order would be approved. */
const passes = async (fixture: RiskFixture, differs: Partial<Order>): Promise<undefined> => {
  await fixture.settled(fixture.order(differs), (decision) => decision.approved);
  return undefined;
};

const halt = async (fixture: RiskFixture, request: Partial<HaltRequest>): Promise<undefined> => {
  const scope = { severity: "FUND_HALT", fund_id: "" } as const;
  const asked: HaltRequest = { ...scope, reason: "a test", requested_by: "", confirmation: "HALT", ...request };
  const { status, answer } = await fixture.client.requestHalt(asked);
  expect([status, answer?.acknowledged]).toEqual(["OK", true]);
  return undefined;
};

const value = (fixture: RiskFixture, fundId: string, nav: string): Promise<void> =>
  fixture.publish("desk", subjects.navUpdated, { fund_id: fundId, nav, currency: "USD", as_of: now() });

/** A foreign fill that nobody can vouch for: the price is 100. */
const farFill = (fill_id: string): Fill => ({
  ...fillOf("plain", { symbol: "FAR", quantity: "10" }),
  fill_id,
  price: "300",
});

/** Keeps new risk from its symbol: a foreign fill, or one of ours, that has something odd. */
const unvouched = (symbol: string, by: "desk" | "oms", differs: Partial<Fill>): Way => ({
  order: { symbol },
  async before(fixture) {
    const fill = fillOf("plain", { symbol, quantity: "10" });
    await fixture.publish(by, subjects.fillsCreated, { ...fill, fill_id: `odd-${symbol}`, ...differs });
    return undefined;
  },
});

const restrict = async (
  fixture: RiskFixture,
  differs: Pick<NewRestriction, "kind"> & Partial<NewRestriction>,
): Promise<undefined> => {
  const id = differs.kind.toLowerCase();
  await fixture.restrict({ restrictionId: `r-${id}`, episodeId: `e-${id}`, watchdog: "vpin", ...differs });
  return undefined;
};

const ways: Ways = {
  idempotency: {
    DUPLICATE_KEY: { order: {}, settles: false, before: (fixture) => approved(fixture, { fund_id: "twice" }) },
    KEY_REUSED: {
      order: { fund_id: "twice", quantity: "2" },
      settles: false,
      before: async (fixture) => ({ idempotency_key: (await approved(fixture, { fund_id: "twice" })).idempotency_key }),
    },
  },
  schema: {
    SCHEMA_FIELD_MISSING: { order: { actor: "" } },
    SCHEMA_FIELD_INVALID: { order: { actor: "two\nlines" } },
    SCHEMA_FIELD_TOO_LONG: { order: { venue: "v".repeat(201) } },
    SCHEMA_VALUE_UNKNOWN: { order: { side: "HOLD" } },
    SCHEMA_DECIMAL_INVALID: { order: { quantity: "1e3" } },
    SCHEMA_LIMIT_PRICE_MISSING: { order: { order_type: "LIMIT" } },
    SCHEMA_STOP_PRICE_MISSING: { order: { order_type: "STOP" } },
    SCHEMA_EXPIRY_INVALID: { order: { tif: "GTD", expires_at: now(1_000) } },
    SCHEMA_NOTIONAL_MISMATCH: { order: { order_type: "LIMIT", limit_price: "100", notional: 150 } },
    SCHEMA_NOTIONAL_OVERFLOW: { order: { quantity: "9999999999999999999", order_type: "LIMIT", limit_price: "100" } },
    SCHEMA_SYMBOL_UNKNOWN: { order: { symbol: "NIL" } },
    SCHEMA_ASSET_CLASS_MISMATCH: { order: { asset_class: "CRYPTO" } },
    SCHEMA_CURRENCY_MISMATCH: { order: { currency: "EUR" } },
    SCHEMA_FUND_UNKNOWN: { order: { fund_id: "nowhere" } },
    SCHEMA_STRATEGY_UNKNOWN: { order: { strategy_id: strategyOf("crowd") } },
    SCHEMA_QUANTITY_OFF_LOT: { order: { quantity: "1.5" } },
    SCHEMA_PRICE_OFF_TICK: { order: { order_type: "LIMIT", limit_price: "100.005" } },
    SCHEMA_SHORT_NOT_REDUCING: { order: { side: "SELL_SHORT", reduce_only: true } },
    SCHEMA_REDUCE_ONLY_UNPROVEN: { order: { side: "SELL", reduce_only: true } },
    SCHEMA_AMENDMENT_MISMATCH: {
      order: { fund_id: "twice", side: "SELL" },
      settles: false,
      before: async (fixture) => ({ order_id: (await approved(fixture, { fund_id: "twice" })).order_id }),
    },
    ORDER_NOT_YOURS: {
      order: { fund_id: "twice" },
      settles: false,
      // Our own order management asks for what is handed in there.
      before: async (fixture) => {
        const order = fixture.order({ fund_id: "twice" });
        expect(await fixture.client.submit(order)).toMatchObject({ status: "OK" });
        return { order_id: order.order_id };
      },
    },
    SCHEMA_CREATED_AT_IMPLAUSIBLE: { order: { created_at: now(2 * dayMs) } },
  },
  static: {
    ENVELOPE_MISSING: { order: { fund_id: "bare" } },
    BROKER_NOT_ALLOWED: { order: { broker: "alpaca" } },
    ORDER_TYPE_NOT_ALLOWED: { order: { order_type: "STOP_LIMIT", limit_price: "100", stop_price: "100" } },
    ASSET_CLASS_NOT_ALLOWED: { order: { symbol: "BTC-USD", asset_class: "CRYPTO" } },
    NOTIONAL_ABOVE_MAX: { order: { quantity: "2500" } },
    PRICE_OUTSIDE_COLLAR: { order: { order_type: "LIMIT", limit_price: "105.01" } },
    SYMBOL_RESTRICTED: { order: { symbol: "RST" } },
    CORPORATE_ACTION_UNDER_WAY: {
      order: { symbol: "SPL" },
      before: async (fixture) => {
        await fixture.announce("SPL");
        return undefined;
      },
    },
    SYMBOL_BLOCKED: {
      order: { fund_id: "roomy", symbol: "HLD" },
      before: async (fixture) => {
        await fixture.block("roomy", "HLD");
        return undefined;
      },
    },
    AGGRESSIVE_THROTTLED: {
      order: { symbol: "HOT" },
      before: (fixture) => restrict(fixture, { kind: "THROTTLE", symbol: "HOT" }),
    },
    NEWS_COOLDOWN: {
      order: { symbol: "COOL", order_type: "LIMIT", limit_price: "96" },
      before: (fixture) => restrict(fixture, { kind: "COOLDOWN", fundId: "plain", symbol: "COOL" }),
    },
    STRATEGY_SHADOWED: {
      order: { fund_id: "shadowed" },
      before: (fixture) =>
        restrict(fixture, { kind: "SHADOW", fundId: "shadowed", strategyId: strategyOf("shadowed") }),
    },
    RESTRICTIONS_UNKNOWN: {
      order: {},
      within: async (fixture, work) => {
        await fixture.withRestrictionsUnreadable(work);
        await passes(fixture, {});
      },
    },
    VALUER_MISSING: { order: { fund_id: "nobodys" } },
    OPTION_EXPIRED: { order: { symbol: "PAST", asset_class: "OPTION" } },
    ORDER_RATE_EXCEEDED: {
      order: { fund_id: "pace" },
      settles: false,
      before: (fixture) => passes(fixture, { fund_id: "pace" }),
      // Not awaited before the next, so that however slow the machine is both come within a second.
      beside: (fixture) => approved(fixture, { fund_id: "pace" }),
    },
    OPEN_ORDERS_EXCEEDED: {
      order: { fund_id: "crowd" },
      before: async (fixture) => {
        await passes(fixture, { fund_id: "crowd" });
        for (let count = 0; count < fixtureOpenOrdersMax; count += 1) await approved(fixture, { fund_id: "crowd" });
        return undefined;
      },
    },
    THROTTLE_TRIPPED: {
      order: { fund_id: "echo" },
      settles: false,
      before: async (fixture) => {
        await passes(fixture, { fund_id: "echo" });
        await approved(fixture, { fund_id: "echo" });
        return undefined;
      },
    },
    REFERENCE_PRICE_MISSING: { order: { symbol: "DRK" } },
    REFERENCE_PRICE_STALE: { order: { symbol: "OLD" } },
    FX_RATE_MISSING: { order: { symbol: "FRA" } },
    FX_RATE_STALE: { order: { symbol: "YEN" } },
  },
  position_risk: {
    FILL_NOT_ACCEPTED: {
      order: { symbol: "FAR" },
      before: async (fixture) => {
        await fixture.publish("oms", subjects.fillsCreated, farFill("f-far"));
        return undefined;
      },
    },
    ORDER_NOT_VOUCHED: unvouched("LONE", "desk", {}),
    FEE_NOT_VOUCHED: unvouched("FEES", "oms", { fee: "101" }),
    FILL_DATE_NOT_VOUCHED: unvouched("ODD", "oms", { filled_at: now(-3_600_000) }),
    CROSS_NOT_VOUCHED: unvouched("LEG", "desk", { kind: "CROSS" }),
    FILL_KIND_NOT_VOUCHED: unvouched("SEEDS", "desk", { kind: "SEED" }),
    VALUE_NOT_VOUCHED: {
      order: { fund_id: "overstated" },
      before: async (fixture) => {
        for (const nav of ["10000000", "20000000"]) await value(fixture, "overstated", nav);
        return undefined;
      },
    },
    PRICE_NOT_VOUCHED: {
      order: { symbol: "JMP" },
      before: async (fixture) => {
        fixture.mark({ symbol: "JMP", price: "100", source: "ground", at: now() });
        const dry = fixture.order({ symbol: "JMP", dry_run: true });
        await fixture.settled(dry, ({ code }) => code !== "REFERENCE_PRICE_MISSING");
        fixture.mark({ symbol: "JMP", price: "200", source: "ground", at: now() });
        return undefined;
      },
    },
    POSITION_LIMIT_EXCEEDED: {
      order: { fund_id: "position", quantity: "101", order_type: "LIMIT", limit_price: "99" },
    },
    GROSS_EXPOSURE_EXCEEDED: { order: { fund_id: "gross", quantity: "200" } },
    GROSS_EXPOSURE_REDUCED: {
      order: { fund_id: "shrunk" },
      before: (fixture) =>
        restrict(fixture, { kind: "GROSS", fundId: "shrunk", factor: parse("0.5"), base: parse("100") }),
    },
    NET_EXPOSURE_EXCEEDED: { order: { fund_id: "net", quantity: "200" } },
    SECTOR_LIMIT_EXCEEDED: { order: { fund_id: "sector", quantity: "200" } },
    NAV_MISSING: { order: { fund_id: "unvalued" } },
    NAV_STALE: { order: { fund_id: "forgotten" } },
    NAV_NOT_POSITIVE: { order: { fund_id: "broke" } },
    MARK_MISSING: { order: { fund_id: "dark" } },
    MARK_STALE: { order: { fund_id: "ages" } },
    STRESS_LOSS_EXCEEDED: { order: { fund_id: "stress", symbol: "CAL", asset_class: "OPTION", side: "SELL_SHORT" } },
    DELTA_MISSING: { order: { symbol: "NOD", asset_class: "OPTION" } },
    DELTA_STALE: { order: { symbol: "OLDD", asset_class: "OPTION" } },
    EXPOSURE_OVERFLOW: { order: { fund_id: "vast" } },
  },
  drawdown_halt: {
    FIRM_HALTED: { order: {}, before: (fixture) => halt(fixture, { severity: "FIRM_HALT" }) },
    FUND_HALTED: { order: { fund_id: "stopped" }, before: (fixture) => halt(fixture, { fund_id: "stopped" }) },
    STRATEGY_HALTED: {
      order: { fund_id: "partly" },
      before: (fixture) => halt(fixture, { severity: "STRATEGY_HALT", strategy_id: strategyOf("partly") }),
    },
    STRATEGY_REDUCTION_UNPROVEN: {
      // What the fund holds is another strategy's.
      order: { fund_id: "net", symbol: "HLD", side: "SELL", reduce_only: true, strategy_id: strategyOf("partly") },
      before: (fixture) => halt(fixture, { severity: "STRATEGY_HALT", strategy_id: strategyOf("partly") }),
    },
    HALT_STATE_UNKNOWN: { order: {} },
    LOSS_CONFIRMATION_PENDING: {
      order: { fund_id: "losing" },
      before: async (fixture) => {
        await value(fixture, "losing", "10000000");
        await passes(fixture, { fund_id: "losing" });
        // Exactly the limit.
        await value(fixture, "losing", "9600000");
        return undefined;
      },
    },
    LOSS_NOT_JUDGED: {
      order: { fund_id: "moved" },
      within: async (fixture, work) => {
        await value(fixture, "moved", "10000000");
        await passes(fixture, { fund_id: "moved" });
        await fixture.withDayUnwritten("moved", work);
        // What could not be written is written as soon as it can be.
        await passes(fixture, { fund_id: "moved" });
      },
    },
    DISK_LOW: {
      order: {},
      within: async (fixture, work) => {
        await fixture.withDiskUnmeasurable(work);
        // A disk that can be measured again, and has room, lifts it.
        await passes(fixture, {});
      },
    },
    UNAUDITED_CHANGE: {
      order: {},
      within: async (fixture, work) => {
        await fixture.withPlantedKey(work);
        // A change that is undone lifts it.
        await passes(fixture, {});
      },
    },
    AUDIT_UNAVAILABLE: {
      order: {},
      within: async (fixture, work) => {
        await fixture.withNewestEntriesGone(work);
        // Entries that are back make the log whole again, which lifts it.
        await passes(fixture, {});
      },
    },
  },
  short_side: {
    EXIT_HAS_PRIORITY: {
      order: { fund_id: "exits", symbol: "HLD", side: "SELL", quantity: "1", reduce_only: true },
      settles: false,
      before: async (fixture) => {
        const exit = { fund_id: "exits", symbol: "HLD", side: "SELL", quantity: "10", reduce_only: true } as const;
        await passes(fixture, exit);
        const unsent = await approved(fixture, { ...exit, quantity: "6" });
        const { answer } = await fixture.client.submit(fixture.order(exit));
        expect(answer?.reason).toContain(`6 of order "${unsent.order_id}" asked for by service:`);
        return undefined;
      },
    },
    // What the fund holds is another strategy's.
    EXIT_EXCEEDS_STRATEGY: {
      order: { fund_id: "net", symbol: "HLD", side: "SELL", reduce_only: true, strategy_id: strategyOf("moved") },
    },
    COVER_EXCEEDS_SHORT: { order: { side: "BUY_TO_COVER" } },
    SELL_EXCEEDS_LONG: { order: { side: "SELL" } },
    SHORT_WHILE_LONG: { order: { fund_id: "net", symbol: "HLD", side: "SELL_SHORT" } },
    BUY_CROSSES_ZERO: { order: { fund_id: "owing", symbol: "HLD", quantity: "3" } },
    SHORTING_DISABLED: { order: { fund_id: "long", side: "SELL_SHORT" } },
    SHORT_OPTIONS_BLOCKED: {
      order: { fund_id: "decaying", symbol: "CAL", asset_class: "OPTION", side: "SELL_SHORT" },
      before: (fixture) => restrict(fixture, { kind: "NO_SHORT_OPTIONS", fundId: "decaying" }),
    },
    BORROW_UNAVAILABLE: { order: { symbol: "FEW", side: "SELL_SHORT", quantity: "11" } },
    BORROW_FEE_EXCEEDED: { order: { symbol: "FEE", side: "SELL_SHORT" } },
    BORROW_MISSING: { order: { symbol: "HLD", side: "SELL_SHORT" } },
    BORROW_STALE: { order: { symbol: "AGO", side: "SELL_SHORT" } },
  },
  cro_veto: {
    RISK_OFFICER_VETO: {
      order: { fund_id: "officer" },
      settles: false,
      before: (fixture) => passes(fixture, { fund_id: "officer" }),
    },
    RISK_OFFICER_TIMEOUT: { order: { fund_id: "officer", thesis: "be silent" }, settles: false },
    RISK_OFFICER_UNREADABLE: { order: { fund_id: "officer", thesis: "talk" }, settles: false },
  },
};

interface NamedWay extends Way {
  readonly gate: GateName;
  readonly code: GateDenialCode;
}

const named: readonly NamedWay[] = Object.entries(ways).flatMap(([gate, codes]) =>
  Object.entries(codes as Readonly<Record<string, Way>>).map(([code, way]) => ({
    ...way,
    gate: gate as GateName,
    code: code as GateDenialCode,
  })),
);
/** Nobody can lift the firm's halt, and it outranks not knowing, so these two come last of all. */
const last = ["HALT_STATE_UNKNOWN", "FIRM_HALTED"].flatMap((late) => named.filter(({ code }) => code === late));
const first = named.filter((way) => !last.includes(way));

let fixture: RiskFixture;

beforeAll(async () => {
  fixture = await openRiskFixture(plan);
  for (const fund_id of ["plain", "twice", "roomy"]) await passes(fixture, { fund_id });
}, 120_000);

afterAll(() => fixture?.close(), 60_000);

test("there is a way to every code of the registry, and to nothing else", () => {
  const registered = Object.entries(gateDenials).flatMap(([gate, codes]) =>
    Object.keys(codes).map((code) => `${gate} ${code}`),
  );
  expect(named.map(({ gate, code }) => `${gate} ${code}`).sort()).toEqual(registered.sort());
  expect(registered.length).toBeGreaterThan(50);
});

async function reach(way: NamedWay): Promise<void> {
  if (way.within === undefined) return reachPlainly(way);
  return way.within(fixture, () => reachPlainly(way));
}

async function reachPlainly(way: NamedWay, triesLeft = 3): Promise<void> {
  const taken = (await way.before?.(fixture)) ?? {};
  const order = fixture.order({ ...taken, ...way.order });
  // What was heard may still be on its way into the engine: asked dry, the world says when it has become what it shall be.
  if (way.settles !== false) await fixture.settled(order, ({ code }) => code === way.code);
  const [, decision] = await Promise.all([way.beside?.(fixture), fixture.client.check(order)]);
  if (decision.code !== way.code && stoodStill.has(decision.code) && triesLeft > 0) {
    await fixture.settled(fixture.order(), ({ code }) => !stoodStill.has(code));
    return reachPlainly(way, triesLeft - 1);
  }
  await tellsOneStory(way, order, decision);
}

async function tellsOneStory({ gate, code }: NamedWay, order: Order, decision: RiskDecision): Promise<void> {
  expect([decision.code, decision.rejecting_gate, decision.approved]).toEqual([code, gate, false]);
  expect(decision.reason).toMatch(/^\S[^\n]*\.$/);
  expect(decision.reason).not.toMatch(/[.!?] +[A-Z]/);
  expect(decision).toMatchObject({ order_id: order.order_id, fund_id: order.fund_id });
  expect(decision.valid_until).toBeUndefined();
  const reached = Object.keys(gateDenials).slice(0, Object.keys(gateDenials).indexOf(gate) + 1);
  expect(decision.checks.map((check) => `${check.gate} ${check.result}`)).toEqual(
    reached.map((name) => `${name} ${name === gate ? "FAILED" : "PASSED"}`),
  );

  const rejection = rejectionOf(order, decision);
  const mine = () => fixture.heard(order.order_id).filter(({ id }) => id.startsWith(decision.decision_id));
  await eventually(`the bus tells of ${code}`, () => mine().length === reached.length + 1);
  expect(mine().map(({ id, subject }) => [id, subject])).toEqual([
    ...reached.map((name, index) => [
      `${decision.decision_id}/${index}`,
      name === gate ? subjects.gateFailed.name : subjects.gatePassed.name,
    ]),
    [decision.decision_id, subjects.decisionMade.name],
  ]);
  for (const [index, check] of decision.checks.entries()) {
    const { payload } = mine()[index] ?? {};
    if (check.gate === gate) expect(payload).toEqual(rejection);
    else
      expect(payload).toEqual({ order_id: order.order_id, gate: check.gate, latency_ms: check.microseconds / 1_000 });
  }
  expect(mine().at(-1)?.payload).toMatchObject({
    order: JSON.parse(JSON.stringify(order)),
    decision: { approved: false, code, rejecting_gate: gate, reason: decision.reason },
  });

  const listed = await fixture.client.rejections(order.fund_id);
  const found = listed.answer?.rejections.find(({ decision_id }) => decision_id === decision.decision_id);
  expect(JSON.parse(JSON.stringify(found))).toEqual({ ...rejection, source: "riskengine" });
}

type Reported = Omit<OrderRejection, "source">;

/** Spelt out here once more, and not taken from the product, because this is what others build on. */
function rejectionOf(order: Order, decision: RiskDecision): Reported {
  const figures = (decision.checks.at(-1)?.figures ?? []).map(({ name, value, age_ms: age }) =>
    age === undefined || Number.isNaN(age) ? { name, value } : { name, value, age_ms: Math.max(0, age) },
  );
  const reported: Reported = {
    order_id: order.order_id,
    decision_id: decision.decision_id,
    idempotency_key: order.idempotency_key,
    fund_id: order.fund_id,
    strategy_id: order.strategy_id,
    symbol: order.symbol,
    side: order.side,
    quantity: order.quantity,
    gate: decision.rejecting_gate,
    code: decision.code,
    reason: decision.reason,
    classification: decision.classification,
    closing_quantity_allowed: decision.closing_quantity_allowed,
    envelope_version: decision.envelope_version,
    halt_epoch: decision.halt_epoch,
    figures,
    actor: order.actor,
    decided_at: decision.decided_at,
  };
  return JSON.parse(JSON.stringify(reported)) as Reported;
}

describe("an order is denied", () => {
  test.each(first.map((way) => [way.gate, way.code, way] as const))("%s: %s", (_gate, _code, way) => reach(way));
});

describe("around the denials", () => {
  test("a duplicate carries the first decision", async () => {
    const order = await approved(fixture, { fund_id: "twice" });
    const first = fixture.heard(order.order_id).find(({ subject }) => subject === subjects.decisionMade.name);
    const { original } = await fixture.client.check(order);
    expect(original).toMatchObject({ approved: true, order_id: order.order_id, code: "" });
    if (first !== undefined) expect(first.id).toBe(original?.decision_id);
  });

  test("an exchange rate that is too old is named for another holding too", async () => {
    const order = fixture.order({ fund_id: "foreign" });
    await fixture.settled(order, ({ code }) => code === "FX_RATE_STALE");
    const decision = await fixture.client.check(order);
    expect(decision).toMatchObject({ code: "FX_RATE_STALE", rejecting_gate: "position_risk", approved: false });
    expect(decision.reason).toContain('"YEN"');
  });

  test("a price that the order type does not use is a mistake, not a request that is passed over", async () => {
    const stray = [{ limit_price: "100" }, { order_type: "LIMIT", limit_price: "100", stop_price: "100" }];
    for (const terms of stray) {
      const decision = await fixture.client.check(fixture.order(terms));
      expect(decision).toMatchObject({ approved: false, rejecting_gate: "schema", code: "SCHEMA_FIELD_INVALID" });
    }
  });

  test("28.5: a foreign fill beyond the collar counts and blocks its symbol alone; accepted by an operator, it no longer does", async () => {
    await fixture.publish("oms", subjects.fillsCreated, farFill("f-far-again"));
    const [bought, exit] = [{ symbol: "FAR" }, { symbol: "FAR", side: "SELL", reduce_only: true }];
    await fixture.settled(fixture.order(bought), ({ code }) => code === "FILL_NOT_ACCEPTED");
    await passes(fixture, {});
    await passes(fixture, exit);
    const open = async () => {
      const { answer } = await fixture.client.listBlocks("plain");
      return (answer?.blocks ?? []).filter(({ symbol, block_id }) => symbol === "FAR" && block_id !== undefined);
    };
    const [first] = await open();
    expect(first?.command).toBe(`ctl riskengine blocks accept ${first?.block_id} --reason TEXT`);
    expect(await fixture.client.acceptBlock(first?.block_id ?? "", " ")).toMatchObject({ code: "REASON_MISSING" });
    for (const { block_id: id = "" } of await open()) {
      expect((await fixture.client.acceptBlock(id, "the broker confirmed it")).status).toBe("OK");
    }
    expect(await open()).toEqual([]);
    await passes(fixture, bought);
    const again = await fixture.client.acceptBlock(first?.block_id ?? "", "twice");
    expect([again.status, again.code]).toEqual(["FAILED_PRECONDITION", "BLOCK_NOT_OPEN"]);
    expect(again.details).toMatch(/was ended at 20\S+Z by operator:duty: the broker confirmed it/);
    expect((await fixture.client.acceptBlock("nobody", "why not")).status).toBe("NOT_FOUND");
  });

  test("22.3: newest audit entries deleted while orders run: denied within 5 s, an exit passes, and it lifts by itself", async () => {
    const bought = fixture.order({ fund_id: "audited" });
    const exit = { fund_id: "audited", symbol: "HLD", side: "SELL", quantity: "10", reduce_only: true };
    await passes(fixture, { fund_id: "audited" });
    await fixture.withNewestEntriesGone(async () => {
      const isDenied = async () => !(await fixture.client.check({ ...bought, dry_run: true })).approved;
      await within(5_000, "new risk is denied", isDenied);
      const decision = await fixture.client.check(fixture.order({ fund_id: "audited" }));
      expect(decision).toMatchObject({ code: "AUDIT_UNAVAILABLE", rejecting_gate: "drawdown_halt", approved: false });
      expect(decision.reason).toMatch(/^The audit log is broken since 20\S+Z \((TRUNCATED|SEQUENCE_MISMATCH) at \d+/);
      expect(await fixture.client.check(fixture.order(exit))).toMatchObject({
        approved: true,
        classification: "REDUCE",
      });
      const unmarked = fixture.order({ ...exit, quantity: "1", reduce_only: false });
      expect((await fixture.client.check(unmarked)).code).toBe("AUDIT_UNAVAILABLE");
    });
    await passes(fixture, { fund_id: "audited" });
    expect(await fixture.client.check(bought)).toMatchObject({ approved: true });
  }, 60_000);

  test("the room of a cancelled order can be used again", async () => {
    const order = await approved(fixture, { fund_id: "roomy" });
    for (let count = 1; count < fixtureOpenOrdersMax; count += 1) await approved(fixture, { fund_id: "roomy" });
    expect((await fixture.client.check(fixture.order({ fund_id: "roomy" }))).code).toBe("OPEN_ORDERS_EXCEEDED");
    await fixture.publish("oms", subjects.ordersCancelled, stepOf(order, "CANCELLED"));
    await passes(fixture, { fund_id: "roomy" });
    await approved(fixture, { fund_id: "roomy" });
  });
});

/** Status, code and a sentence, and no answer. */
async function refused(status: string, code: string, asked: Promise<Answered<unknown>>): Promise<void> {
  const { details, answer, ...reported } = await asked;
  expect(reported).toEqual({ status, code });
  expect(answer).toBeUndefined();
  expect(details).toMatch(/^\S[^\n]*\.$/);
}

async function versionOf(fundId: string): Promise<number> {
  return (await fixture.client.getEnvelope(fundId)).answer?.version ?? 0;
}

describe("a command is refused", () => {
  const next = async (fundId: string, differs: Parameters<typeof ampleEnvelope>[1]): Promise<Answered<object>> =>
    fixture.client.updateEnvelope(ampleEnvelope(fundId, { version: (await versionOf(fundId)) + 1, ...differs }));

  test("ENVELOPE_INVALID names every mistake and changes nothing", async () => {
    const before = await versionOf("plain");
    const asked = next("plain", { max_position_pct: 11, max_net_exposure_pct: 2, order_rate_max_per_s: 0 });
    await refused("INVALID_ARGUMENT", "ENVELOPE_INVALID", asked);
    const { details } = await asked;
    for (const field of ["max_position_pct", "max_net_exposure_pct", "order_rate_max_per_s"]) {
      expect(details).toContain(field);
    }
    const { max_notional: _, ...incomplete } = ampleEnvelope("plain", { version: before + 1 });
    await refused("INVALID_ARGUMENT", "ENVELOPE_INVALID", fixture.client.updateEnvelope(incomplete));
    await refused("INVALID_ARGUMENT", "ENVELOPE_INVALID", next("nowhere", {}));
    expect(await versionOf("plain")).toBe(before);
  });

  test("ENVELOPE_VERSION_CONFLICT: what is not the next version, and the slower of two", async () => {
    const before = await versionOf("plain");
    for (const version of [0, before, before + 2, Number.MAX_SAFE_INTEGER]) {
      await refused("ABORTED", "ENVELOPE_VERSION_CONFLICT", next("plain", { version }));
    }
    const both = await Promise.all([next("plain", {}), next("plain", {})]);
    expect(both.map(({ code }) => code).sort()).toEqual(["", "ENVELOPE_VERSION_CONFLICT"]);
    expect(await versionOf("plain")).toBe(before + 1);
  });

  test("LOOSENING_DURING_HALT, also in a mixed update and for one strategy's halt; tightening goes through", async () => {
    await halt(fixture, { fund_id: "stopped" });
    await halt(fixture, { severity: "STRATEGY_HALT", strategy_id: strategyOf("partly") });
    for (const fundId of ["stopped", "partly"]) {
      const before = await versionOf(fundId);
      await refused("FAILED_PRECONDITION", "LOOSENING_DURING_HALT", next(fundId, { max_notional: 250_001 }));
      const mixed = { max_notional: 1, max_position_pct: 0.1, price_collar_pct: 0.06 };
      await refused("FAILED_PRECONDITION", "LOOSENING_DURING_HALT", next(fundId, mixed));
      expect(await versionOf(fundId)).toBe(before);
      expect((await next(fundId, { max_notional: 200_000 })).code).toBe("");
      expect(await versionOf(fundId)).toBe(before + 1);
    }
    expect((await next("plain", { max_notional: 260_000 })).code).toBe("");
  });

  test("HALT_SCOPE_INVALID: a halt that does not say whom it halts", async () => {
    const asked: HaltRequest = {
      severity: "FUND_HALT",
      fund_id: "",
      reason: "a test",
      requested_by: "",
      confirmation: "HALT",
    };
    const wrong: readonly Partial<HaltRequest>[] = [
      { severity: "SEVERITY_UNSPECIFIED", fund_id: "plain" },
      {},
      { fund_id: "nowhere" },
      { severity: "STRATEGY_HALT", fund_id: "plain" },
      { severity: "STRATEGY_HALT", strategy_id: "nobody" },
      { severity: "STRATEGY_HALT", fund_id: "crowd", strategy_id: strategyOf("plain") },
    ];
    for (const differs of wrong) {
      await refused("INVALID_ARGUMENT", "HALT_SCOPE_INVALID", fixture.client.requestHalt({ ...asked, ...differs }));
    }
    await passes(fixture, {});
  });

  test("what refuses to lift a halt leaves it in force", async () => {
    const asked = { fund_id: "stopped", reason: "a test", confirmation: "RESUME", halt_ids: [] };
    const { resumeHalt } = fixture.client;
    const { reason: _reason, ...silent } = asked;
    const { fund_id: _fund, ...all } = asked;
    await refused("FAILED_PRECONDITION", "CONFIRMATION_WRONG", resumeHalt({ ...asked, confirmation: "YES" }));
    await refused("FAILED_PRECONDITION", "RESUME_REASON_MISSING", resumeHalt(silent));
    await refused(
      "PERMISSION_DENIED",
      "RESUME_COSIGN_FORGED",
      resumeHalt({ ...asked, cosigned_by: "operator:relief" }),
    );
    await refused("FAILED_PRECONDITION", "RESUME_REQUEST_VOID", resumeHalt({ ...asked, halt_ids: ["another"] }));
    await refused("FAILED_PRECONDITION", "HALT_NOT_ACTIVE", resumeHalt({ ...asked, fund_id: "plain" }));
    await refused("PERMISSION_DENIED", "STEP_UP_REQUIRED", resumeHalt({ ...asked, rebase: true }));
    await refused("PERMISSION_DENIED", "RESUME_SECOND_FACTOR_MISSING", resumeHalt(all));
    await refused("PERMISSION_DENIED", "RESUME_SECOND_FACTOR_WRONG", resumeHalt({ ...all, one_time_code: "000000" }));
    await refused("NOT_FOUND", "RESUME_REQUEST_UNKNOWN", resumeHalt({ ...silent, request_id: "none" }));
    expect((await fixture.client.check(fixture.order({ fund_id: "stopped" }))).code).toBe("FUND_HALTED");
  });

  test("THROTTLE_NOT_TRIPPED and REASON_MISSING; with a reason the strategy trades again", async () => {
    const { releaseThrottle } = fixture.client;
    await refused("FAILED_PRECONDITION", "THROTTLE_NOT_TRIPPED", releaseThrottle(strategyOf("plain"), "a test"));
    for (const reason of ["", " \t"]) {
      await refused("FAILED_PRECONDITION", "REASON_MISSING", releaseThrottle(strategyOf("echo"), reason));
    }
    expect((await fixture.client.check(fixture.order({ fund_id: "echo", quantity: "7" }))).code).toBe(
      "THROTTLE_TRIPPED",
    );
    expect((await releaseThrottle(strategyOf("echo"), "a test")).answer).toMatchObject({ tripped: false });
    await approved(fixture, { fund_id: "echo", quantity: "7" });
  });

  test("REFERENCE_INVALID, REFERENCE_VERSION_CONFLICT and REASON_MISSING leave reference data as it was", async () => {
    const { getReference, setReference } = fixture.client;
    const kept = (await getReference("restricted")).answer;
    if (kept === undefined) throw new Error("there is no restricted list");
    const document = { ...kept, version: kept.version + 1, reason: "a test" };
    const invalid = [
      "{",
      "{}",
      '[{"symbol":"RST"}]',
      '[{"symbol":"rst","reason":"x"}]',
      '[{"symbol":"RST","reason":"x","why":"y"}]',
    ];
    for (const content_json of [
      ...invalid,
      JSON.stringify([...JSON.parse(kept.content_json), ...JSON.parse(kept.content_json)]),
    ]) {
      await refused("INVALID_ARGUMENT", "REFERENCE_INVALID", setReference({ ...document, content_json }));
    }
    for (const version of [0, kept.version, kept.version + 2]) {
      await refused("ABORTED", "REFERENCE_VERSION_CONFLICT", setReference({ ...document, version }));
    }
    await refused("FAILED_PRECONDITION", "REASON_MISSING", setReference({ ...document, reason: " " }));
    expect((await getReference("restricted")).answer).toEqual(kept);
  });
});

describe("the firm's halt, which nobody lifts, comes last", () => {
  test.each(last.map((way) => [way.gate, way.code, way] as const))("%s: %s", async (_gate, code, way) => {
    if (code === "HALT_STATE_UNKNOWN") await fixture.withHaltsUnreadable(() => reach(way));
    else await reach(way);
  });

  test("and no fund's limits are loosened under it", async () => {
    const version = (await versionOf("crowd")) + 1;
    const loosened = fixture.client.updateEnvelope(ampleEnvelope("crowd", { version, max_notional: 250_001 }));
    await refused("FAILED_PRECONDITION", "LOOSENING_DURING_HALT", loosened);
    const mixed = ampleEnvelope("crowd", { version, max_notional: 1, max_position_pct: 0.1, price_collar_pct: 0.06 });
    await refused("FAILED_PRECONDITION", "LOOSENING_DURING_HALT", fixture.client.updateEnvelope(mixed));
    const tightened = ampleEnvelope("crowd", { version, max_notional: 200_000 });
    expect((await fixture.client.updateEnvelope(tightened)).answer).toMatchObject({ version, max_notional: 200_000 });
    // A fund's first limits allow what was not allowed before.
    const first = fixture.client.updateEnvelope(ampleEnvelope("bare"));
    await refused("FAILED_PRECONDITION", "LOOSENING_DURING_HALT", first);
  });
});

// Whatever a change of limits lets through that was denied before is reported as loosening: nobody gets more without the second factor.
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Order } from "../../contracts/src/generated/svc/v1/order.ts";
import type { RiskEnvelope } from "../../contracts/src/records/envelope.ts";
import { countOf } from "../../testkit/full-count.ts";
import { engineFixture, envelopeRecord, fillOf, moment, orderOf, prices } from "../../testkit/risk/engine-fixture.ts";
import { loosens } from "./changes.ts";
import { compileEnvelope, envelopeChanges } from "./envelope.ts";

const seed = 220_600;
const subset = <T>(all: readonly T[]) => fc.subarray([...all], { minLength: 1 });

/** Small values, so that orders meet them on both sides. */
const limits: fc.Arbitrary<Partial<RiskEnvelope>> = fc.record({
  max_position_pct: fc.constantFrom(0.02, 0.05, 0.1, 0.2),
  max_notional: fc.constantFrom(1_000, 20_000, 100_000, 500_000),
  max_gross_exposure_pct: fc.constantFrom(0.05, 0.1, 0.5, 2),
  max_net_exposure_pct: fc.constantFrom(0.05, 0.1, 0.5),
  allowed_brokers: subset(["paper", "alpaca"]),
  allowed_order_types: subset(["MARKET", "LIMIT", "STOP", "STOP_LIMIT"] as const),
  allowed_asset_classes: subset(["EQUITY", "CRYPTO", "OPTION"] as const),
  shorting_enabled: fc.boolean(),
  strict_sides: fc.boolean(),
  halt_allow_reduce_only: fc.boolean(),
  price_collar_pct: fc.constantFrom(0.01, 0.05, 0.2),
  exit_collar_pct: fc.constantFrom(0.2, 0.4, 0.9),
  order_rate_max_per_s: fc.constantFrom(1, 5),
  max_borrow_fee_pct: fc.constantFrom(0.001, 0.01, 0.1),
  sector_limits_pct: fc.constantFrom({}, { technology: 0.05 }, { technology: 0.3 }, { energy: 0.01 }),
});

const order: fc.Arbitrary<Partial<Order>> = fc
  .record({
    symbol: fc.constantFrom("AAPL", "MSFT", "XOM"),
    quantity: fc.constantFrom("1", "50", "400", "2000"),
    order_type: fc.constantFrom("MARKET", "LIMIT"),
    /** Of the price. */
    limit: fc.constantFrom(0.9, 0.97, 1.03, 1.3),
    broker: fc.constantFrom("paper", "alpaca"),
    reduce_only: fc.boolean(),
  })
  .map(({ limit, ...rest }) => {
    const price = (Number(prices[rest.symbol]) * limit).toFixed(2);
    return { ...rest, ...(rest.order_type === "LIMIT" && { limit_price: price }) };
  });

const change = fc.record({
  before: limits,
  /** A few fields move at a time, as people change them. */
  moved: limits,
  fields: fc.uniqueArray(fc.nat(14), { minLength: 1, maxLength: 3 }),
  order,
  /** What is held, and which way the order goes; most fit each other. */
  held: fc.constantFrom(
    ...(["0 BUY", "0 SELL_SHORT", "1000 BUY", "1000 SELL", "100 SELL", "100 SELL_SHORT", "-1000 SELL_SHORT"] as const),
    ...(["-1000 BUY_TO_COVER", "-100 BUY_TO_COVER", "-100 BUY"] as const),
  ),
  earlier: fc.nat(3),
  halted: fc.nat(3).map((n) => n === 0),
});

/** The fund as the change finds it; what an order would be answered is asked without leaving a trace. */
function fundOf({ order: given, held, earlier, halted }: Change) {
  const engine = engineFixture();
  const [position = "0", side = "BUY"] = held.split(" ");
  const asked = { ...given, side };
  const symbol = asked.symbol ?? "AAPL";
  if (position !== "0") {
    const opening = position.startsWith("-") ? "SELL_SHORT" : "BUY";
    engine.applyFill(fillOf(orderOf("held", { symbol, side: opening }), position.replace("-", "")));
  }
  for (let n = 0; n < earlier; n += 1) engine.check(orderOf(`earlier-${n}`, { quantity: "1" }), moment(n));
  if (halted) {
    const halt = { severity: "FUND_HALT", fund_id: "alpha", reason: "r", requested_by: "x", halt_id: "h" } as const;
    engine.setHalts({ known: true, epoch: 2, active: [{ ...halt, epoch: 2, since: "2026-11-15T13:30:00Z" }] });
  }
  let version = 1;
  return (limitsOf: Partial<RiskEnvelope>): boolean => {
    version += 1;
    engine.setEnvelope(compileEnvelope(envelopeRecord("alpha", { ...limitsOf, version })));
    return engine.check(orderOf("o", { ...asked, dry_run: true }), moment(10)).outcome === "approved";
  };
}

type Change = typeof change extends fc.Arbitrary<infer Value> ? Value : never;

test("22.6: an order that the new limits let through and the old ones denied means that the change loosens", () => {
  let gained = 0;
  fc.assert(
    fc.property(change, (given) => {
      const names = Object.keys(given.moved) as (keyof RiskEnvelope)[];
      const chosen = (from: Partial<RiskEnvelope>): Partial<RiskEnvelope> =>
        Object.fromEntries(given.fields.map((n) => [names[n], from[names[n] ?? "version"]]));
      const [before, after] = [chosen(given.before), chosen(given.moved)];
      const approves = fundOf(given);
      if (approves(before) || !approves(after)) return;
      gained += 1;
      const of = (limitsOf: object) => envelopeRecord("alpha", limitsOf);
      expect(loosens(envelopeChanges(of(before), of(after)))).toBe(true);
    }),
    { seed, numRuns: countOf(2_000, 400) },
  );
  // Else the property says nothing.
  expect(gained).toBeGreaterThan(5);
});

// A split and a change of symbol of a share that options are written on, with all services in virtual time: positions, cost, stops, orders, reference data
// and values of the options follow in the transaction of the share, and nothing fires because of it.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as decimal from "../contracts/src/decimal.ts";
import type { OrderStatus } from "../contracts/src/generated/svc/v1/platform.ts";
import type { Exposures } from "../contracts/src/generated/svc/v1/riskengine.ts";
import type { NavUpdated } from "../contracts/src/records/fund.ts";
import type { Instrument } from "../contracts/src/records/market.ts";
import { subjects } from "../contracts/src/subjects.ts";
import { byFloor } from "../testkit/full-count.ts";
import { ignoreEndedIncarnations } from "../testkit/virtual/incarnation.ts";
import { openedPlatform } from "./opened-platform.ts";
import { heldKey } from "./outside.ts";

const seed = 23_08;
let restore: () => void;
beforeAll(() => {
  restore = ignoreEndedIncarnations();
});
afterAll(() => restore());

type Fixture = Awaited<ReturnType<typeof openedPlatform>>;

const noTerms = { amount_per_share: "", ex_date: "", ratio: "", new_symbol: "" };
const begin = ({ ask }: Fixture, terms: object) =>
  ask<{ state: string; denial?: { reason: string } }>("Treasury", "BookCorporateAction", {
    action_id: "spy-action",
    symbol: "SPY",
    reason: "tested",
    ...noTerms,
    ...terms,
  });

const positionsOf = async ({ time, made }: Fixture, fundId: string) => {
  const look = made.bystander("look").store.transact("look", (unit) => unit.oms.positions(fundId));
  return (await time.finish("positions", look)).filter(({ quantity }) => quantity !== decimal.zero);
};

const instrumentsOf = async ({ time, made }: Fixture): Promise<ReadonlyMap<string, Instrument>> => {
  const { instruments } = await time.finish("reference", made.bystander("look").referenceData.read());
  return new Map(instruments.map((one) => [one.symbol, one]));
};

const orderOf = (id: string, symbol: string, more: object) => ({
  order_id: id,
  idempotency_key: id,
  fund_id: "gamma",
  strategy_id: "gamma-income",
  symbol,
  tif: "GTC",
  broker: "paper",
  asset_class: "OPTION",
  actor: "tested",
  ...more,
});

/** Quantity x price x multiplier of everything on the share, as the value of the fund counted it. */
function valueOnShare({ prices = {} }: NavUpdated, instruments: ReadonlyMap<string, Instrument>): decimal.Decimal {
  return Object.entries(prices).reduce((sum, [symbol, { quantity, price }]) => {
    const multiplier = decimal.parse(instruments.get(symbol)?.multiplier ?? "0");
    const ofOne = decimal.multiply(decimal.parse(quantity), decimal.parse(price), "half-even");
    return decimal.add(sum, decimal.multiply(ofOne, multiplier, "half-even"));
  }, decimal.zero);
}

/** A stop of the written call that fired a moment ago. */
async function owe(fixture: Fixture, symbol: string): Promise<void> {
  const position = (await positionsOf(fixture, "gamma")).find((one) => one.symbol === symbol);
  if (position === undefined) throw new Error(`${symbol} is not held`);
  const { fundId, strategyId, openedBy, quantity, averagePrice } = position;
  const at = fixture.time.clock.now();
  const store = fixture.made.bystander("stop").store;
  const prices = { basisPrice: averagePrice, triggerPrice: averagePrice, observedPrice: averagePrice };
  const stop = { stopId: "stop-1", fundId, strategyId, symbol, openedBy, side: "BUY_TO_COVER", quantity } as const;
  await fixture.time.finish(
    "the stop",
    store.transact("stop", (unit) => unit.stops.insert({ ...stop, ...prices, observedAt: at, firedAt: at })),
  );
}

const cases = [
  {
    terms: { kind: "SPLIT", ratio: "4:1" },
    spy: "SPY",
    times: [4, 4],
    names: ["SPY 281215C00162500", "SPY 281215P00125000"],
  },
  {
    terms: { kind: "SPLIT", ratio: "1:10" },
    spy: "SPY",
    times: [0.1, 1],
    names: ["SPY1 281215C06500000", "SPY1 281215P05000000"],
  },
  {
    terms: { kind: "SYMBOL_CHANGE", new_symbol: "SPX" },
    spy: "SPX",
    times: [1, 1],
    names: ["SPX 281215C00650000", "SPX 281215P00500000"],
  },
] as const;

describe(`23.4: options on a share, seed ${seed}`, () => {
  it.each(byFloor<readonly (typeof cases)[number][]>({ first: cases.slice(0, 1), later: cases }))(
    "$terms.kind $terms.ratio: options that are held, ordered and owed follow it",
    async (one) => {
      const { terms, spy, names } = one;
      const [shares, contracts] = one.times;
      const fixture = await openedPlatform(seed);
      const { made, reported } = fixture;
      const [call, put] = ["SPY 281215C00650000", "SPY 281215P00500000"];
      const resting = orderOf("rest-1", put, {
        side: "BUY_TO_COVER",
        quantity: "1",
        order_type: "LIMIT",
        limit_price: "29",
      });
      expect((await fixture.ask<OrderStatus>("Oms", "SubmitOrder", resting)).state).toMatch(/ACCEPTED|ROUTED|WORKING/);
      expect(await fixture.until(() => made.outside.open.has("rest-1"), 5_000)).toBe(true);
      // A stop of the written call is owed, and nobody trades it.
      made.outside.haltSymbols([call]);
      await owe(fixture, call);
      const before = await positionsOf(fixture, "gamma");
      const instrumentsBefore = await instrumentsOf(fixture);
      expect(await begin(fixture, terms)).toMatchObject({ state: "ANNOUNCED" });
      expect(await fixture.until(() => fixture.states().includes("APPLIED"), 20_000)).toBe(true);
      made.crash("oms");
      made.crash("riskengine");
      expect(
        await fixture.until(() => fixture.states().includes("DONE"), 40_000),
        JSON.stringify(fixture.states()),
      ).toBe(true);
      await fixture.pass(2_000);
      const owed = [...made.tables.stops.values()];
      expect(owed.map(({ stopId, symbol, ended }) => [stopId, symbol, ended])).toEqual([
        ["stop-1", names[0], undefined],
      ]);

      const instruments = await instrumentsOf(fixture);
      const after = await positionsOf(fixture, "gamma");
      const scale = (text: string, factor: number) =>
        decimal.format(decimal.multiply(decimal.parse(text), decimal.parse(String(factor)), "half-even"));
      const shown = after.map(({ symbol, quantity }) => `${symbol} ${decimal.format(quantity)}`);
      expect(shown).toEqual(
        expect.arrayContaining([
          `${spy} ${scale("200", shares)}`,
          `${names[0]} ${scale("-1", contracts)}`,
          `${names[1]} ${scale("-4", contracts)}`,
        ]),
      );
      expect(after).toHaveLength(before.length);
      // What each opening cost in money, and what was won by it, are what they were.
      const paid = (positions: typeof after, from: ReadonlyMap<string, Instrument>) =>
        positions
          .map(({ symbol, cost = decimal.zero, realisedPnl, openedBy }) => {
            const multiplier = decimal.parse(from.get(symbol)?.multiplier ?? "0");
            return `${openedBy} ${decimal.format(decimal.multiply(cost, multiplier, "half-even"))} ${decimal.format(realisedPnl)}`;
          })
          .sort();
      expect(paid(after, instruments)).toEqual(paid(before, instrumentsBefore));
      for (const { symbol, quantity } of after)
        expect(made.outside.held.get(heldKey("gamma", symbol))?.quantity).toBe(quantity);
      const { lines, held_symbols: stillHeld } = await fixture.ask<Exposures>("RiskEngine", "ListExposures", {});
      const engine = lines.filter(({ fund_id, quantity }) => fund_id === "gamma" && quantity !== "0");
      expect(engine.map(({ symbol, quantity }) => `${symbol} ${quantity}`).sort()).toEqual(shown.sort());
      expect(stillHeld).toEqual([]);
      for (const symbol of [call, put]) expect(instruments.has(symbol)).toBe(false);
      expect(instruments.get(names[0])).toMatchObject({
        underlying: spy,
        strike: scale("650", 1 / shares),
        right: "CALL",
      });
      const cancelled = reported<{ order_id: string; reason?: string }>(subjects.ordersCancelled);
      expect(cancelled.find(({ order_id: id }) => id === "rest-1")?.reason).toBe(
        "The corporate action spy-action cancels it.",
      );

      const navs = reported<NavUpdated>(subjects.navUpdated).filter(({ fund_id: id }) => id === "gamma");
      const first = navs.findIndex(({ prices }) => prices?.[names[0]] !== undefined);
      const [last, next] = [navs[first - 1], navs[first]];
      if (last === undefined || next === undefined) throw new Error("the fund was not valued with the new series");
      expect(valueOnShare(next, instruments)).toBe(valueOnShare(last, instrumentsBefore));
      expect([next.nav, next.cash]).toEqual([last.nav, last.cash]);
      expect([reported(subjects.stopTriggered), reported(subjects.reconcileDifference)]).toEqual([[], []]);
      expect([made.tables.risk.halts, made.defects]).toEqual([[], []]);

      // What was owed is closed under its new name, once.
      made.outside.haltSymbols([]);
      await fixture.until(() => made.tables.stops.get("stop-1")?.ended !== undefined, 40_000);
      expect(made.tables.stops.get("stop-1")).toMatchObject({ symbol: names[0], ended: { outcome: "EXITED" } });
      expect(made.tables.stops.size).toBe(1);
      expect((await positionsOf(fixture, "gamma")).map(({ symbol }) => symbol)).not.toContain(names[0]);
      const newest = reported<NavUpdated>(subjects.navUpdated).filter(({ fund_id: id }) => id === "gamma");
      expect(newest.at(-1)?.oldest_price_age_ms).toBeLessThan(2_000);

      // Everything trades on under its new name: quoted, with a delta, and at the broker.
      const cover = orderOf("on-1", names[1], {
        side: "BUY_TO_COVER",
        quantity: "1",
        order_type: "MARKET",
        reduce_only: true,
      });
      expect((await fixture.ask<OrderStatus>("Oms", "SubmitOrder", cover)).state).not.toBe("REJECTED");
      expect(
        await fixture.until(
          () => reported<{ order_id: string }>(subjects.fillsCreated).some(({ order_id: id }) => id === "on-1"),
          10_000,
        ),
      ).toBe(true);
      const write = orderOf("on-2", names[0], { side: "SELL_SHORT", quantity: "1", order_type: "MARKET" });
      const written = await fixture.ask<OrderStatus>("Oms", "SubmitOrder", write);
      expect([written.state, written.code ?? ""].join(" ")).not.toMatch(/REJECTED/);
    },
  );
});

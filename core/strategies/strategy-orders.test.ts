// Orders of strategies on random funds: each numbered promise of strategy-orders.ts and within-envelope.ts.
import { describe, expect, it } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import { order as orderRecord } from "../../contracts/src/records/order.ts";
import { paperCapital, paperEnvelopes, paperListings, paperReference } from "../../services/shared/paper-seeds.ts";
import { prng } from "../../testkit/virtual/prng.ts";
import { type FundRoom, fitting, type HeldLine, withinSide } from "../envelope/within-envelope.ts";
import { strategies } from "./index.ts";
import type { StrategyInput } from "./shape.ts";
import { type OrderPlan, openMax, strategyOrders } from "./strategy-orders.ts";

type Decimal = decimal.Decimal;

const seed = 20_261_115;
const instruments = new Map(paperReference("").instruments.map((one) => [one.symbol, one]));
const share = decimal.parse("0.8");
const whole = (count: number): Decimal => decimal.fromInteger(BigInt(count));

function randomPlan(round: number): OrderPlan {
  const chance = prng(seed).fork(`plan ${round}`);
  const strategy = strategies[round % strategies.length] ?? strategies[0];
  if (strategy === undefined) throw new Error("there are no strategies");
  const envelope = paperEnvelopes.find(({ fund_id }) => fund_id === strategy.fundId);
  if (envelope === undefined) throw new Error("there is no envelope");
  const watched = strategy.watches(instruments);
  const prices = new Map(
    paperListings.map(({ symbol, price }) => {
      const moved = decimal.multiply(
        decimal.parse(price),
        decimal.fromNumber(0.9 + chance.below(200) / 1_000),
        "half-even",
      );
      return [symbol, decimal.round(moved, 2, "half-even")] as const;
    }),
  );
  const nav = decimal.parse(paperCapital.find(({ fundId }) => fundId === strategy.fundId)?.amount ?? "1");
  const lines = watched.map((symbol): HeldLine => {
    const most = decimal.divide(
      decimal.multiply(nav, decimal.parse("0.1"), "down"),
      prices.get(symbol) ?? decimal.one,
      "down",
    );
    const some = decimal.round(decimal.multiply(most, decimal.fromNumber(chance.below(100) / 100), "down"), 0, "down");
    const isOption = instruments.get(symbol)?.asset_class === "OPTION";
    const quantity = isOption ? whole(-chance.below(5)) : some;
    // Other strategies of the fund have orders too.
    return { symbol, quantity, openBuys: whole(chance.below(3)), openSells: whole(chance.below(3)) };
  });
  const closes = new Map(
    watched.map((symbol) => {
      const last = decimal.toNumber(prices.get(symbol) ?? decimal.one);
      return [symbol, Array.from({ length: 70 }, () => last * (0.9 + chance.below(200) / 1_000)).concat(last)] as const;
    }),
  );
  const positions = new Map(lines.map(({ symbol, quantity }) => [symbol, quantity]));
  const allocationPct = chance.below(60) / 100;
  const input: StrategyInput = { closes, prices, instruments, positions, nav, allocationPct, at: 0 as Instant };
  const deltas = new Map(
    [...instruments.values()].flatMap(({ symbol, asset_class, right }) =>
      asset_class === "OPTION" ? [[symbol, decimal.parse(right === "CALL" ? "0.5" : "-0.3")] as const] : [],
    ),
  );
  const room: FundRoom = { lines, prices, deltas, instruments, nav, envelope, share };
  const quotes = new Map(
    [...prices].map(([symbol, price]) => [symbol, { bid: price, ask: decimal.add(price, decimal.parse("0.01")) }]),
  );
  const busy = new Set(watched.filter(() => chance.below(10) === 0));
  const opinion = strategy.judge(input);
  const decision = 1 + chance.below(1_000);
  return { strategy, input, opinion, room, quotes, busy, openCount: busy.size, decision, seed, broker: "paper" };
}

const plans = Array.from({ length: 100 }, (_, round) => randomPlan(round)).map((plan) => ({
  plan,
  orders: strategyOrders(plan),
}));

/** What the fund would count of a symbol if everything that may fill did. */
function worst({ prices, deltas, instruments: known }: FundRoom, line: HeldLine): Decimal {
  const long = decimal.abs(decimal.add(line.quantity, line.openBuys));
  const short = decimal.abs(decimal.subtract(line.quantity, line.openSells));
  const { multiplier = "1", underlying = "" } = known.get(line.symbol) ?? {};
  const delta = decimal.abs(deltas.get(line.symbol) ?? decimal.zero);
  const moved = decimal.multiply(delta, prices.get(underlying) ?? decimal.zero, "up");
  const each = decimal.max(prices.get(line.symbol) ?? decimal.zero, moved);
  return decimal.multiply(decimal.max(long, short), decimal.multiply(each, decimal.parse(multiplier), "up"), "up");
}

function withOrder(lines: readonly HeldLine[], symbol: string, signed: Decimal): readonly HeldLine[] {
  const add = (line: HeldLine): HeldLine =>
    decimal.sign(signed) > 0
      ? { ...line, openBuys: decimal.add(line.openBuys, signed) }
      : { ...line, openSells: decimal.subtract(line.openSells, signed) };
  return lines.map((line) => (line.symbol === symbol ? add(line) : line));
}

describe("orders of strategies (seed 20261115)", () => {
  it("are valid, the same for the same, and named by their decision", () => {
    let count = 0;
    for (const [round, { plan, orders }] of plans.entries()) {
      expect(strategyOrders(randomPlan(round))).toEqual(orders);
      for (const [place, order] of orders.entries()) {
        expect(orderRecord.parse(order)).toEqual(order);
        expect(order.order_id).toBe(`${plan.strategy.name}-${plan.decision}-${place + 1}`);
        expect(order.idempotency_key).toBe(order.order_id);
        count += 1;
      }
    }
    expect(count).toBeGreaterThan(100);
  });

  it("1: are few, and one per symbol", () => {
    for (const { plan, orders } of plans) {
      expect(orders.length + plan.openCount).toBeLessThanOrEqual(Math.max(openMax, plan.openCount));
      const symbols = orders.map(({ symbol }) => symbol);
      expect(new Set(symbols).size).toBe(symbols.length);
      expect(symbols.filter((symbol) => plan.busy.has(symbol))).toEqual([]);
    }
  });

  it("2: leave a fifth of every limit that they touch", () => {
    let grown = 0;
    for (const { plan, orders } of plans) {
      let { lines } = plan.room;
      for (const order of orders) {
        const signed = order.side.startsWith("BUY")
          ? decimal.parse(order.quantity)
          : decimal.negate(decimal.parse(order.quantity));
        const before = worst(plan.room, lines.find(({ symbol }) => symbol === order.symbol) as HeldLine);
        lines = withOrder(lines, order.symbol, signed);
        const after = worst(plan.room, lines.find(({ symbol }) => symbol === order.symbol) as HeldLine);
        if (decimal.compare(after, before) <= 0) continue;
        grown += 1;
        const { nav, envelope } = plan.room;
        const limit = (fraction: number): Decimal =>
          decimal.multiply(decimal.multiply(nav, decimal.fromNumber(fraction), "down"), share, "down");
        const { sector = "" } = instruments.get(order.symbol) ?? {};
        const sum = (of: readonly HeldLine[]): Decimal =>
          of.map((line) => worst(plan.room, line)).reduce(decimal.add, decimal.zero);
        const underlyingOf = (symbol: string): string => instruments.get(symbol)?.underlying ?? symbol;
        const onSame = lines.filter(({ symbol }) => underlyingOf(symbol) === underlyingOf(order.symbol));
        expect(decimal.compare(sum(onSame), limit(envelope.max_position_pct))).toBeLessThanOrEqual(0);
        expect(decimal.compare(sum(lines), limit(envelope.max_gross_exposure_pct))).toBeLessThanOrEqual(0);
        const inSector = lines.filter(({ symbol }) => instruments.get(symbol)?.sector === sector);
        const sectorLimit = envelope.sector_limits_pct[sector];
        if (sectorLimit !== undefined)
          expect(decimal.compare(sum(inSector), limit(sectorLimit))).toBeLessThanOrEqual(0);
      }
    }
    expect(grown).toBeGreaterThan(20);
  });

  it("3: never cross zero, and short nothing but options", () => {
    for (const { plan, orders } of plans) {
      for (const { symbol, side, quantity } of orders) {
        const held = plan.input.positions.get(symbol) ?? decimal.zero;
        if (side === "SELL") expect(decimal.compare(decimal.parse(quantity), held)).toBeLessThanOrEqual(0);
        if (side === "BUY_TO_COVER")
          expect(decimal.compare(decimal.parse(quantity), decimal.negate(held))).toBeLessThanOrEqual(0);
        if (side === "SELL_SHORT") expect(instruments.get(symbol)?.asset_class).toBe("OPTION");
      }
    }
  });

  it("4: fit what the whole fund holds and has open", () => {
    let closing = 0;
    for (const { plan, orders } of plans) {
      for (const { symbol, side, quantity } of orders) {
        const {
          quantity: held,
          openBuys,
          openSells,
        } = plan.room.lines.find((line) => line.symbol === symbol) as HeldLine;
        const long = decimal.subtract(held, openSells);
        const short = decimal.negate(decimal.add(held, openBuys));
        const most = { SELL: long, BUY_TO_COVER: short, BUY: decimal.sign(held) < 0 ? short : undefined }[
          side as string
        ];
        if (most !== undefined) expect(decimal.compare(decimal.parse(quantity), most)).toBeLessThanOrEqual(0);
        if (most !== undefined) closing += 1;
        if (side === "SELL_SHORT") expect(decimal.sign(held)).toBeLessThanOrEqual(0);
      }
    }
    expect(closing).toBeGreaterThan(20);
  });
});

describe("what fits under an envelope", () => {
  it("3: a pure reduction is bounded by the size of one order alone, also above every limit", () => {
    const plan = randomPlan(0);
    const lines = [{ symbol: "AAPL", quantity: whole(1_000_000), openBuys: decimal.zero, openSells: whole(999_900) }];
    const fits = (wanted: number): string => decimal.format(fitting({ ...plan.room, lines }, "AAPL", whole(wanted)));
    expect(fits(-100)).toBe("-100");
    expect(fits(100)).toBe("0");
  });
});

describe("22.7: what a side may do to the fund's position", () => {
  const line = (quantity: number, openBuys = 0, openSells = 0): HeldLine => ({
    symbol: "AAPL",
    quantity: whole(quantity),
    openBuys: whole(openBuys),
    openSells: whole(openSells),
  });
  it.each([
    ["SELL", -50, line(100), "-50"],
    ["SELL", -50, line(100, 0, 80), "-20"],
    ["SELL", -50, line(0), "0"],
    ["SELL", -50, undefined, "0"],
    ["SELL_SHORT", -50, line(1), "0"],
    ["SELL_SHORT", -50, line(-10), "-50"],
    ["BUY_TO_COVER", 50, line(-30), "30"],
    ["BUY_TO_COVER", 50, line(-80, 60), "20"],
    ["BUY", 50, line(-30), "30"],
    ["BUY", 50, line(10), "50"],
    ["BUY", 50, undefined, "50"],
  ] as const)("%s %s", (side, wanted, held, most) => {
    expect(decimal.format(withinSide(held, side, whole(wanted)))).toBe(most);
  });
});

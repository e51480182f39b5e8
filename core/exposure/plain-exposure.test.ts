// The plain way and the long way come to the same: an engine that goes through fills, marks, orders and endings with quantities and prices of
// every size and place, so that its sums become plain, stop being so and become plain again, against bigints that are added up from nothing.
import fc from "fast-check";
import { expect, test } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import * as instant from "../../contracts/src/instant.ts";
import { inputCount } from "../../testkit/full-count.ts";
import {
  engineFixture,
  markAll,
  moment,
  orderOf,
  prices,
  reference,
  startOfDay,
} from "../../testkit/risk/engine-fixture.ts";
import { inputsOf } from "../engine/decision.ts";
import { type RecordedView, unpackViews } from "../engine/fast/view-bytes.ts";

const seed = Number(process.env["PORTCULLIS_SEED"] ?? "20261115");
const symbols = ["AAPL", "MSFT", "XOM", "BTC-USD"] as const;
const sectorOf = new Map(reference.instruments.map(({ symbol, sector }) => [symbol, sector]));

const quantities = fc.constantFrom(
  "1",
  "3",
  "100",
  "1000000",
  "0.5",
  "0.0001",
  "2.00000001",
  "0.000000000000000001",
  "562949953421312",
);
const tags = fc.constantFrom(
  "1",
  "200",
  "99.99",
  "100.05",
  "0.0001",
  "12345.678901",
  "1125899906842.62",
  "0.000000000000000007",
);
const stepOf = (quantity: fc.Arbitrary<string>, price: fc.Arbitrary<string>) =>
  fc.oneof(
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant("fill" as const),
        symbol: fc.constantFrom(...symbols),
        side: fc.constantFrom("BUY", "SELL"),
        quantity,
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant("mark" as const), symbol: fc.constantFrom(...symbols), price }),
    },
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constant("order" as const),
        symbol: fc.constantFrom(...symbols),
        side: fc.constantFrom("BUY", "SELL"),
        quantity,
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("end" as const), which: fc.nat(20) }) },
  );

/** What any fund may hold, and what most do: whole quantities at prices in cents. */
const lives = {
  anything: stepOf(quantities, tags),
  "whole quantities": stepOf(
    fc.constantFrom("1", "3", "100", "1000000"),
    fc.constantFrom("1", "200", "99.99", "100.05"),
  ),
};

interface Held {
  position: bigint;
  buys: bigint;
  sells: bigint;
}

/** Everything as bigints, from the list of what happened. */
class Oracle {
  readonly lines = new Map<string, Held>(symbols.map((symbol) => [symbol, { position: 0n, buys: 0n, sells: 0n }]));
  readonly values = new Map<string, bigint>(symbols.map((symbol) => [symbol, decimal.parse(prices[symbol] ?? "0")]));

  line(symbol: string): Held {
    return this.lines.get(symbol) ?? { position: 0n, buys: 0n, sells: 0n };
  }

  /** Gross, net both ways and gross of that sector, without one symbol. */
  sums(except: string, sector: string): readonly bigint[] {
    let [gross, high, low, inSector] = [0n, 0n, 0n, 0n];
    for (const [symbol, { position, buys, sells }] of this.lines) {
      const value = this.values.get(symbol) ?? 0n;
      const [most, least] = [(position + buys) * value, (position - sells) * value];
      const [up, down] = [most < 0n ? -most : most, least < 0n ? -least : least];
      if (symbol === except) continue;
      gross += up > down ? up : down;
      if (sectorOf.get(symbol) === sector) inSector += up > down ? up : down;
      high += most;
      low += least;
    }
    return [gross, high, low, inSector];
  }
}

function othersOf([{ view }]: readonly [RecordedView, ...RecordedView[]]): readonly unknown[] {
  return [view.grossOthers, view.netHighOthers, view.netLowOthers, view.sectorOthers];
}

test.each(Object.entries(lives))(`an engine's sums are what bigints give, holding %s (seed ${seed})`, (_, step) => {
  const limitless = {
    max_position_pct: 1e12,
    max_gross_exposure_pct: 1e12,
    max_net_exposure_pct: 1e12,
    max_notional: 1e15,
  };
  fc.assert(
    fc.property(fc.array(step, { minLength: 5, maxLength: 60 }), (steps) => {
      const engine = engineFixture({ ...limitless, sector_limits_pct: {} });
      const oracle = new Oracle();
      const open: { id: string; symbol: string; side: string; quantity: bigint }[] = [];
      markAll(engine, startOfDay);
      for (const [count, happened] of steps.entries()) {
        const at = moment(count + 1);
        if (happened.kind === "mark") {
          engine.setMark({ symbol: happened.symbol, price: happened.price, source: "test", at: instant.format(at) });
          oracle.values.set(happened.symbol, decimal.parse(happened.price));
        } else if (happened.kind === "fill") {
          const { symbol, side, quantity } = happened;
          const names = { fill_id: `f${count}`, order_id: `nobody-${count}`, fund_id: "alpha", strategy_id: "trend" };
          engine.applyFill({
            ...names,
            symbol,
            side: side as "BUY",
            quantity,
            price: "1",
            filled_at: instant.format(at),
          });
          oracle.line(symbol).position += side === "BUY" ? decimal.parse(quantity) : -decimal.parse(quantity);
        } else if (happened.kind === "order") {
          const { symbol, side, quantity } = happened;
          const asset_class = symbol === "BTC-USD" ? "CRYPTO" : "EQUITY";
          const checked = engine.check(orderOf(`o${count}`, { symbol, side, quantity, asset_class }), at);
          expect(othersOf(unpackViews(inputsOf(checked)))).toEqual(oracle.sums(symbol, sectorOf.get(symbol) ?? ""));
          if (checked.outcome !== "approved") continue;
          open.push({ id: `o${count}`, symbol, side, quantity: decimal.parse(quantity) });
          oracle.line(symbol)[side === "BUY" ? "buys" : "sells"] += decimal.parse(quantity);
        } else {
          const [ended] = open.splice(happened.which % Math.max(1, open.length), 1);
          if (ended === undefined) continue;
          const names = { order_id: ended.id, fund_id: "alpha", strategy_id: "trend", symbol: ended.symbol };
          const reported = { from: "WORKING", to: "CANCELLED", filled_quantity: "0", remaining_quantity: "0" } as const;
          engine.applyTransition({ ...names, ...reported, at: instant.format(at) });
          oracle.line(ended.symbol)[ended.side === "BUY" ? "buys" : "sells"] -= ended.quantity;
        }
        const exposure = engine.exposure("alpha");
        const sums = oracle.sums("", "technology");
        expect([exposure?.gross, exposure?.netHigh, exposure?.netLow]).toEqual(sums.slice(0, 3));
        expect(exposure?.sectors.get("technology") ?? 0n).toBe(sums[3]);
      }
    }),
    { seed, numRuns: inputCount(300) },
  );
});

// The prices that a fund's positions and open orders are counted by at a moment of the past: those that it was valued at, and for what was not in that value
// (an open order's symbol, an option's underlying) those that were heard last. How an option follows its underlying is computed from both, as it was then.
import * as decimal from "../../../contracts/src/decimal.ts";
import {
  format,
  type Instant,
  microsecondsPerSecond,
  parse,
  plusMicroseconds,
} from "../../../contracts/src/instant.ts";
import { type Mark, paperSource } from "../../../contracts/src/records/market.ts";
import { optionRiskOf, type PricedAt } from "../../../core/options/option-risk.ts";
import type { NavPoint } from "../../../ports/ledger-records.ts";
import type { MarketRecords } from "../../../ports/market-records.ts";
import type { Standing } from "../../../ports/replay-queries.ts";
import type { ServicePorts } from "../../shared/service.ts";
import type { KeptMarket } from "./keep-market.ts";
import { minuteOf, minuteUs } from "./minute-bars.ts";

export type PastPricesPorts = Pick<ServicePorts, "store"> & Pick<KeptMarket, "running">;

/** A price that was heard longer ago is none. */
const lookBackMinutes = 10;

interface Asked {
  readonly fundId: string;
  readonly at: Instant;
  readonly standing: Standing;
  readonly nav: NavPoint | undefined;
  /** What it holds, and what its open orders are in. */
  readonly symbols: readonly string[];
}

/** Of each symbol whose price of then is known. */
export async function pastMarks(ports: PastPricesPorts, asked: Asked): Promise<ReadonlyMap<string, Mark>> {
  const { fundId, at, standing, nav, symbols } = asked;
  const { instruments, funds } = standing.reference;
  const listed = new Map(instruments.map((instrument) => [instrument.symbol, instrument]));
  const underlyings = symbols.flatMap((symbol) => listed.get(symbol)?.underlying ?? []);
  const prices = new Map<string, PricedAt>();
  for (const [symbol, priced] of Object.entries(nav?.prices ?? {})) {
    prices.set(symbol, { price: decimal.parse(priced.price), at: parse(priced.at) });
  }
  const missing = [...new Set([...symbols, ...underlyings])].filter((symbol) => !prices.has(symbol));
  if (missing.length > 0) {
    await ports.store.transact("replay.look", async (unit) => {
      for (const symbol of missing) {
        const heard = await heardLast(ports, unit.market, symbol, at);
        if (heard !== undefined) prices.set(symbol, heard);
      }
    });
  }
  const isPaper = funds.find((fund) => fund.fund_id === fundId)?.mode === "PAPER";
  const source = isPaper ? paperSource : "treasury";
  const marks = new Map<string, Mark>();
  for (const [symbol, own] of prices) {
    const instrument = listed.get(symbol);
    const mark = { symbol, price: decimal.format(own.price), source, at: format(own.at) };
    if (instrument?.asset_class !== "OPTION") marks.set(symbol, mark);
    else {
      const risk = optionRiskOf(instrument, own, prices.get(instrument.underlying ?? ""), undefined);
      // Without it the option would count as nothing.
      if (risk !== undefined) marks.set(symbol, { ...mark, option_risk: risk });
    }
  }
  return marks;
}

async function heardLast(
  { running }: PastPricesPorts,
  market: MarketRecords,
  symbol: string,
  at: Instant,
): Promise<PricedAt | undefined> {
  const start = minuteOf(at);
  const half = running(symbol, start) ?? (await market.minute(symbol, start));
  const endOf = (untilSecond: number): Instant => plusMicroseconds(start, untilSecond * microsecondsPerSecond);
  const last = half?.slices.findLast(({ untilSecond }) => endOf(untilSecond) <= at);
  if (last !== undefined) return { price: last.close, at: endOf(last.untilSecond) };
  const from = plusMicroseconds(start, -lookBackMinutes * minuteUs);
  const query = { symbol, of: "minute", originUs: 0, lengthUs: minuteUs, from, to: start, countMax: 1 } as const;
  const [bar] = await market.gather(query);
  return bar && { price: bar.close, at: plusMicroseconds(0 as Instant, (bar.bucket + 1) * minuteUs) };
}

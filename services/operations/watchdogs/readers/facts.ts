// What several watchdogs read: the funds with their strategies, values by the day, backtests, what is held, and what was injected.
import * as decimal from "../../../../contracts/src/decimal.ts";
import { fromMicroseconds, plusMilliseconds } from "../../../../contracts/src/instant.ts";
import type { Instrument, Quote } from "../../../../contracts/src/records/market.ts";
import type { FundReference } from "../../../../contracts/src/records/reference.ts";
import { drillFundId } from "../../../../core/halts/halts.ts";
import { strategyByName } from "../../../../core/strategies/index.ts";
import type { Dated } from "../../../../core/watchdogs/watchdog.ts";
import type { NavPoint } from "../../../../ports/ledger-records.ts";
import type { StoredPosition } from "../../../../ports/oms-records.ts";
import type { Reference } from "../../../../ports/reference-data.ts";
import type { StoredBacktest, StoredStrategy } from "../../../../ports/research-records.ts";
import type { StoredInjection } from "../../../../ports/watchdog-records.ts";
import type { ServicePorts } from "../../../shared/service.ts";

type FactPorts = Pick<
  ServicePorts,
  | "store"
  | "riskStore"
  | "riskBooks"
  | "referenceData"
  | "treasuryQueries"
  | "omsQueries"
  | "marketHistory"
  | "clock"
  | "log"
>;

export interface Facts {
  readonly ports: FactPorts;
  /** The newest quote of each symbol that the feed has. */
  readonly newest: ReadonlyMap<string, Quote>;
  /** Read again only when it has changed. */
  reference(): Promise<{ readonly reference: Reference; readonly instruments: ReadonlyMap<string, Instrument> }>;
  funds(): Promise<readonly FundReference[]>;
  strategies(): Promise<readonly StoredStrategy[]>;
  backtest(strategyId: string): Promise<StoredBacktest | undefined>;
  injections(): Promise<readonly StoredInjection[]>;
  /** Not zero. */
  positions(): Promise<readonly StoredPosition[]>;
  /** Oldest first, the running day last. */
  navDays(fundId: string, countMax: number): Promise<readonly NavPoint[]>;
}

const always = fromMicroseconds(0);
const dayMs = 86_400_000;

export function createFacts(ports: FactPorts, newest: ReadonlyMap<string, Quote>): Facts {
  let kept: Awaited<ReturnType<Facts["reference"]>> | undefined;
  const reference: Facts["reference"] = async () => {
    const changed = await ports.referenceData.changed();
    if (kept === undefined || kept.reference.change !== changed) {
      const read = await ports.referenceData.read();
      kept = { reference: read, instruments: new Map(read.instruments.map((one) => [one.symbol, one])) };
    }
    return kept;
  };
  return {
    ports,
    newest,
    reference,
    // The fund of halt drills holds nothing and has no strategies.
    funds: async () => (await reference()).reference.funds.filter(({ fund_id: id }) => id !== drillFundId),
    strategies: () => ports.store.transact("watchdogs.look", (unit) => unit.research.strategies()),
    backtest: (strategyId) => ports.store.transact("watchdogs.look", (unit) => unit.research.backtest(strategyId)),
    injections: () => ports.store.transact("watchdogs.look", (unit) => unit.watchdogs.injections()),
    async positions() {
      const all = await ports.store.transact("watchdogs.look", (unit) => unit.oms.positions());
      return all.filter(({ quantity }) => quantity !== decimal.zero);
    },
    navDays: (fundId, countMax) =>
      ports.treasuryQueries.navs({
        fundId,
        from: always,
        to: plusMilliseconds(ports.clock.now(), dayMs),
        every: "day",
        countMax,
      }),
  };
}

/** The level of a fund's units, flows taken out: a deposit is no profit. It begins with 1. */
export function unitLevels(points: readonly NavPoint[]): readonly Dated[] {
  let level = 1;
  let before: NavPoint | undefined;
  const levels: Dated[] = [];
  for (const point of points) {
    if (before !== undefined) {
      const flow = decimal.toNumber(decimal.subtract(point.netFlows, before.netFlows));
      const from = decimal.toNumber(before.nav);
      level *= from > 0 ? (decimal.toNumber(point.nav) - flow) / from : Number.NaN;
    }
    levels.push({ day: dayOf(point), value: level });
    before = point;
  }
  return levels;
}

export function returnsOf(levels: readonly Dated[]): readonly Dated[] {
  return levels
    .slice(1)
    .map(({ day, value }, place) => ({ day, value: value / (levels[place]?.value ?? Number.NaN) - 1 }));
}

function dayOf({ tradingDay, at }: NavPoint): string {
  return tradingDay ?? new Date(at / 1_000).toISOString().slice(0, 10);
}

/** From the last value that was only imported on: what is after it was valued by the platform itself. */
export function sinceGoLive(points: readonly NavPoint[]): readonly NavPoint[] {
  const first = points.findIndex(({ prices }) => prices !== undefined);
  return first === -1 ? points.slice(-1) : points.slice(Math.max(0, first - 1));
}

/** A fund's daily returns in its strategies' backtests, weighted by base allocation; null when one of them has none. */
export async function fundBacktest(facts: Facts, fund: FundReference): Promise<readonly number[] | null> {
  const stored = (await facts.strategies()).filter(({ fundId }) => fundId === fund.fund_id);
  if (stored.length === 0) return null;
  const byDay = new Map<string, number[]>();
  for (const { strategyId, allocationPct } of stored) {
    const found = await facts.backtest(strategyId);
    if (found === undefined) return null;
    // On its first day a backtest only buys.
    for (const day of found.days.slice(1)) {
      byDay.set(day.day, [...(byDay.get(day.day) ?? []), day.return * allocationPct]);
    }
  }
  const whole = [...byDay].filter(([, returns]) => returns.length === stored.length);
  return whole
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([, returns]) => returns.reduce((sum, one) => sum + one, 0));
}

/** 365 where everything trades every day. */
export function periodsPerYear(fund: FundReference): number {
  const years = fund.strategies.flatMap((strategyId) => strategyByName(strategyId)?.daysPerYear ?? []);
  return years.length > 0 && years.every((days) => days === 365) ? 365 : 252;
}

/** What somebody follows news and volume of: of an option its underlying. */
export async function heldSymbols(facts: Facts): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const { instruments } = await facts.reference();
  const held = new Map<string, Set<string>>();
  for (const { fundId, symbol } of await facts.positions()) {
    const followed = instruments.get(symbol)?.underlying ?? symbol;
    held.set(fundId, (held.get(fundId) ?? new Set()).add(followed));
  }
  return held;
}

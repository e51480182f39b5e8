// Inputs of strategy_watchdog: profit or loss by the trading day, kept from the fund's values on, beside the backtest's on the same capital.
import * as decimal from "../../../../contracts/src/decimal.ts";
import { type Instant, parse } from "../../../../contracts/src/instant.ts";
import type { NavUpdated } from "../../../../contracts/src/records/fund.ts";
import { mean, standardDeviation } from "../../../../core/stats/moments.ts";
import type { StrategyWatchdogInput } from "../../../../core/watchdogs/strategy-watchdog.ts";
import type { StoredBacktest, StoredStrategy } from "../../../../ports/research-records.ts";
import type { PnlDay } from "../../../../ports/watchdog-records.ts";
import type { Reader, Watched } from "../assigned.ts";
import type { Facts } from "./facts.ts";
import { daysUntil } from "./injected-days.ts";

interface PnlConfig {
  readonly window: number;
  readonly persistence: number;
}

/** A year, and what a longer window may need. */
const daysMax = 400;

export function strategyPnlReader<Config extends PnlConfig>(facts: Facts): Reader<StrategyWatchdogInput, Config> {
  /** Writes what the day has come to so far. */
  async function keepDays(
    strategies: readonly StoredStrategy[],
    navs: readonly NavUpdated[],
    known: readonly PnlDay[],
  ) {
    const days = strategies.flatMap(({ strategyId, fundId, allocationPct }): PnlDay[] => {
      const nav = navs.find((one) => one.fund_id === fundId);
      const reported = nav?.strategy_pnl?.[strategyId];
      if (nav === undefined || reported === undefined) return [];
      const closed = decimal.parse(reported);
      const day = nav.trading_day ?? nav.as_of.slice(0, 10);
      const before = known.find((one) => one.strategyId === strategyId && one.day < day);
      // Before the first day that was kept nothing is known: it counts from its first value on.
      const opened = before?.closed ?? closed;
      return [{ strategyId, day, opened, closed, nav: decimal.parse(nav.nav), allocationPct }];
    });
    if (days.length > 0) await facts.ports.store.transact("watchdogs.pnl", (unit) => unit.watchdogs.putPnl(days));
  }

  return {
    async read(request) {
      const strategies = (await facts.strategies()).filter(({ fundId }) => request.isDue(fundId));
      const navs = await facts.ports.riskStore.navs();
      const look = () => facts.ports.store.transact("watchdogs.look", (unit) => unit.watchdogs.pnl(daysMax));
      await keepDays(strategies, navs, await look());
      const kept = await look();
      const injected = (await facts.injections()).find(({ kind }) => kind === "pnl");
      const watched: Watched<StrategyWatchdogInput>[] = [];
      for (const strategy of strategies) {
        const nav = navs.find((one) => one.fund_id === strategy.fundId);
        const found = await facts.backtest(strategy.strategyId);
        const backtest = found === undefined || nav === undefined ? null : scaled(found, strategy, nav);
        const scope = { fundId: strategy.fundId, strategyId: strategy.strategyId };
        const config = request.config(strategy.fundId);
        if (injected?.strategyId === strategy.strategyId && injected.z !== undefined && backtest !== null) {
          const inputs = injectedDays(backtest, injected.z, config, request.at);
          watched.push(...inputs.map((input) => ({ scope, input, isInjected: true })));
        } else {
          const days = kept.filter(({ strategyId }) => strategyId === strategy.strategyId).reverse();
          const live = days.map((one) => ({
            day: one.day,
            value: decimal.toNumber(decimal.subtract(one.closed, one.opened)),
          }));
          watched.push({ scope, input: { backtest, live, asOf: nav === undefined ? request.at : parse(nav.as_of) } });
        }
      }
      return watched;
    },
  };
}

/** A backtest's returns are on the capital that it was given: now that is the allocation of the fund's value. */
function scaled({ days }: StoredBacktest, { allocationPct }: StoredStrategy, { nav }: NavUpdated): readonly number[] {
  const capital = Number(nav) * allocationPct;
  return days.slice(1).map((day) => day.return * capital);
}

/** As many days as persistence needs, each with a whole window whose sum is as far off as was asked for. */
function injectedDays(
  backtest: readonly number[],
  z: number,
  { window, persistence }: PnlConfig,
  at: Instant,
): readonly StrategyWatchdogInput[] {
  const [middle, deviation] = [mean(backtest) ?? 0, standardDeviation(backtest) ?? 0];
  const error = deviation * Math.sqrt(window + (window * window) / backtest.length);
  const value = middle + (z * error) / window;
  const days = daysUntil(at, window + persistence);
  return Array.from({ length: persistence }, (_unused, place) => ({
    backtest,
    live: days.slice(place + 1, place + 1 + window).map((day) => ({ day, value })),
    asOf: at,
  }));
}

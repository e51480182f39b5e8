// Makes the strategies' backtests in the background, one after the other, when there is none or it was made of something else. A caller who asks before
// is told to come back; no start waits for it. Where the platform's past is not made, neither are they.

import { plusMilliseconds } from "../../contracts/src/instant.ts";
import { strategies, strategiesVersion } from "../../core/strategies/index.ts";
import type { Strategy } from "../../core/strategies/shape.ts";
import type { StoredBacktest } from "../../ports/research-records.ts";
import { type Loop, startLoop } from "../shared/loop.ts";
import { backtestYear, dailyCloses, lastHistoryDay } from "../shared/paper-history.ts";
import type { ServicePorts } from "../shared/service.ts";
import { isPaperStrategy, type ReferenceReader } from "./fund-view.ts";

type BacktestPorts = Pick<ServicePorts, "clock" | "timers" | "crash" | "log" | "store" | "marketHistory" | "settings">;

const yearDays = 365;
/** Prices before the year, for those who look back. */
const daysBefore = 100;
const firstAfterMs = 2_000;
const againAfterMs = 60_000;

export function keepBacktests(ports: BacktestPorts, references: ReferenceReader): Loop {
  async function run(ending: AbortSignal): Promise<number> {
    const { reference, instruments } = await references.current();
    for (const strategy of strategies) {
      if (ending.aborted || !isPaperStrategy(reference, strategy.fundId, strategy.name)) continue;
      const madeOf = `seed ${ports.settings.market.seed}, version ${strategiesVersion}`;
      const known = await ports.store.transact("research.look", (unit) => unit.research.backtest(strategy.name));
      if (known?.madeOf === madeOf) continue;
      const made = await make(strategy, madeOf, instruments, ports);
      await ports.store.transact("research.backtest", (unit) => unit.research.putBacktest(made));
      ports.log.info("a backtest was made", { strategy: strategy.name, days: made.days.length });
    }
    return againAfterMs;
  }

  return startLoop({
    ports,
    what: { failing: "the backtests cannot be made", working: "the backtests can be made again" },
    firstAfterMs: ports.settings.seedPaperHistory ? firstAfterMs : undefined,
    run,
    troubleMsMin: againAfterMs,
    troubleMsMax: againAfterMs,
  });
}

async function make(
  strategy: Strategy,
  madeOf: string,
  instruments: Parameters<typeof dailyCloses>[2],
  ports: BacktestPorts,
): Promise<StoredBacktest> {
  const now = ports.clock.now();
  const to = lastHistoryDay(now);
  const from = lastHistoryDay(plusMilliseconds(now, -(yearDays - 1) * 86_400_000));
  const early = lastHistoryDay(plusMilliseconds(now, -(yearDays + daysBefore) * 86_400_000));
  const closes = await dailyCloses(ports.marketHistory, strategy, instruments, early, to);
  const { days, signals, annualReturn, annualVolatility, sharpe, drawdownMax } = backtestYear(
    strategy,
    closes,
    instruments,
    from,
  );
  const said = new Map(signals.map((one) => [one.day, one.signals]));
  return {
    strategyId: strategy.name,
    madeOf,
    from,
    to,
    annualReturn,
    annualVolatility,
    ...(sharpe === null ? {} : { sharpe }),
    drawdownMax,
    days: days.map(({ day, informationCoefficient, ...figures }) => ({
      day,
      return: figures.return,
      ...(informationCoefficient === null ? {} : { informationCoefficient }),
      signals: (said.get(day) ?? []).map(({ symbol, value }) => ({ symbol, value })),
    })),
  };
}

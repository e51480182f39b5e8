// A strategy's signal at the close of every day, and the return from there to the next close: the skill that can be compared with a backtest's, because it
// is made the same way. It begins with the day before the platform did, and every finished day adds one.
import * as decimal from "../../contracts/src/decimal.ts";
import { plusMilliseconds } from "../../contracts/src/instant.ts";
import type { BacktestClose } from "../../core/strategies/backtest.ts";
import { strategies } from "../../core/strategies/index.ts";
import type { Strategy, StrategyInput } from "../../core/strategies/shape.ts";
import type { DailySignal } from "../../ports/research-records.ts";
import { type Loop, startLoop } from "../shared/loop.ts";
import { dailyCloses, lastHistoryDay } from "../shared/paper-history.ts";
import type { ServicePorts } from "../shared/service.ts";
import { isPaperStrategy, type ReferenceReader } from "./fund-view.ts";

type DailySkillPorts = Pick<
  ServicePorts,
  "clock" | "timers" | "crash" | "log" | "store" | "marketHistory" | "settings"
>;

/** After the backtests, which are asked for first. */
const firstAfterMs = 60_000;
const everyMs = 600_000;
const dayMs = 86_400_000;
/** Prices before, for those who look back. */
const daysBefore = 100;

export function keepDailySkill(ports: DailySkillPorts, references: ReferenceReader): Loop {
  let doneFor = "";
  async function run(ending: AbortSignal): Promise<number> {
    const day = lastHistoryDay(ports.clock.now());
    if (day !== doneFor) await once(day, ending);
    doneFor = day;
    return everyMs;
  }

  async function once(last: string, ending: AbortSignal): Promise<void> {
    const { reference, instruments } = await references.current();
    for (const strategy of strategies) {
      if (ending.aborted || !isPaperStrategy(reference, strategy.fundId, strategy.name)) continue;
      const look = () => ports.store.transact("research.look", (unit) => unit.research.dailySignals(strategy.name, 10));
      const kept = await look();
      const from = lastHistoryDay(plusMilliseconds(ports.clock.now(), -daysBefore * dayMs));
      const days = await dailyCloses(ports.marketHistory, strategy, instruments, from, last);
      const newest = kept[0]?.day ?? days.at(-2)?.day ?? "";
      const signals = days
        .filter(({ day }) => day > newest)
        .flatMap(({ day }) => signalsAt(strategy, days, day, instruments));
      const realised = kept.flatMap((signal) => withReturn(signal, days));
      await ports.store.transact("research.daily", async (unit) => {
        await unit.research.putDailySignals(signals);
        await unit.research.setDailyRealised(realised);
      });
    }
  }

  return startLoop({
    ports,
    what: { failing: "signals at the close could not be kept", working: "signals at the close are kept again" },
    firstAfterMs: ports.settings.seedPaperHistory ? firstAfterMs : undefined,
    run,
    troubleMsMin: everyMs,
    troubleMsMax: everyMs,
  });
}

/** As the backtest asks: with the closes up to that day, and nothing held. */
function signalsAt(
  strategy: Strategy,
  days: readonly BacktestClose[],
  day: string,
  instruments: StrategyInput["instruments"],
): readonly DailySignal[] {
  const place = days.findIndex((one) => one.day === day);
  const today = days[place];
  if (today === undefined) return [];
  const closes = new Map<string, number[]>();
  for (const one of days.slice(Math.max(0, place + 1 - strategy.lookback), place + 1)) {
    for (const [symbol, close] of one.closes)
      closes.set(symbol, [...(closes.get(symbol) ?? []), decimal.toNumber(close)]);
  }
  const { closes: prices, at } = today;
  const { allocationPct } = strategy;
  const input = { closes, prices, instruments, positions: new Map(), nav: decimal.one, allocationPct, at };
  return strategy.judge(input).signals.flatMap(({ symbol, value }): DailySignal[] => {
    const price = prices.get(symbol);
    return price === undefined ? [] : [{ strategyId: strategy.name, day, symbol, value, price, at }];
  });
}

/** Nothing while the next close is not there, or the return is known. */
function withReturn(signal: DailySignal, days: readonly BacktestClose[]): readonly DailySignal[] {
  if (signal.realisedReturn !== undefined) return [];
  const next = days.find(({ day }) => day > signal.day)?.closes.get(signal.symbol);
  const before = decimal.toNumber(signal.price);
  return next === undefined || !(before > 0)
    ? []
    : [{ ...signal, realisedReturn: decimal.toNumber(next) / before - 1 }];
}

// Research's repository in a transaction of the memory store. What was written is kept aside until the transaction commits.
import { plusMilliseconds } from "../../../contracts/src/instant.ts";
import type {
  DailySignal,
  ResearchRecords,
  SkillDay,
  StoredBacktest,
  StoredSignal,
  StoredStrategy,
} from "../../../ports/research-records.ts";
import type { LayeredMap, RecordTools } from "../layered-map.ts";

/** What research would have on disk. */
export interface ResearchTables {
  readonly strategies: Map<string, StoredStrategy>;
  readonly decisions: Map<string, number>;
  readonly signals: Map<string, StoredSignal>;
  readonly skill: Map<string, { readonly strategyId: string; readonly day: string; total: number; count: number }>;
  readonly backtests: Map<string, StoredBacktest>;
  readonly daily: Map<string, DailySignal>;
}

export function researchTables(): ResearchTables {
  return {
    strategies: new Map(),
    decisions: new Map(),
    signals: new Map(),
    skill: new Map(),
    backtests: new Map(),
    daily: new Map(),
  };
}

const signalKey = ({ strategyId, at, symbol }: StoredSignal): string => JSON.stringify([strategyId, at, symbol]);

export function researchChanges(tables: ResearchTables, tools: RecordTools): ResearchRecords {
  const { inTurn, lock, table } = tools;
  const strategies = table("research_strategy", tables.strategies);
  const decisions = table("research_strategy", tables.decisions);
  const signals = table("research_signal", tables.signals);
  const skill = table("research_skill", tables.skill);
  const backtests = table("research_backtest", tables.backtests);
  const daily = table("research_daily_signal", tables.daily);

  const records: ResearchRecords = {
    strategies: () =>
      inTurn(async () =>
        strategies.filter(() => true).sort((one, other) => (one.strategyId < other.strategyId ? -1 : 1)),
      ),
    lockStrategy: (strategyId) =>
      inTurn(async () => {
        await lock(`research strategy ${strategyId}`);
        return strategies.get(strategyId);
      }),
    putStrategy: (strategy) =>
      inTurn(async () => {
        await lock(`research strategy ${strategy.strategyId}`);
        strategies.set(strategy.strategyId, strategy);
      }),
    takeDecision: (strategyId) =>
      inTurn(async () => {
        await lock(`research strategy ${strategyId}`);
        const next = (decisions.get(strategyId) ?? 0) + 1;
        decisions.set(strategyId, next);
        return next;
      }),
    ...signalRecords(signals, tools),
    ...dailyRecords(daily, tools),
    addSkill: (strategyId, day, coefficient) =>
      inTurn(async () => {
        const key = JSON.stringify([strategyId, day]);
        await lock(`research skill ${key}`);
        const { total, count } = skill.get(key) ?? { total: 0, count: 0 };
        skill.set(key, { strategyId, day, total: total + coefficient, count: count + 1 });
      }),
    skill: (strategyId, countMax) =>
      inTurn(async () =>
        skill
          .filter(() => true)
          .filter((day) => day.strategyId === strategyId)
          .sort((one, other) => (one.day < other.day ? 1 : -1))
          .slice(0, countMax)
          .map(({ day, total, count }): SkillDay => ({ day, mean: total / count, count })),
      ),
    backtest: (strategyId) => inTurn(async () => backtests.get(strategyId)),
    putBacktest: (backtest) =>
      inTurn(async () => {
        await lock(`research backtest ${backtest.strategyId}`);
        backtests.set(backtest.strategyId, backtest);
      }),
  };
  return records;
}

function dailyRecords(
  daily: LayeredMap<DailySignal>,
  { inTurn, lock }: RecordTools,
): Pick<ResearchRecords, "putDailySignals" | "setDailyRealised" | "dailySignals"> {
  const keyOf = ({ strategyId, day, symbol }: DailySignal): string => JSON.stringify([strategyId, day, symbol]);
  return {
    putDailySignals: (added) =>
      inTurn(async () => {
        for (const signal of added) {
          await lock(`research daily ${keyOf(signal)}`);
          if (daily.get(keyOf(signal))?.realisedReturn === undefined) daily.set(keyOf(signal), signal);
        }
      }),
    setDailyRealised: (known) =>
      inTurn(async () => {
        for (const { realisedReturn, ...signal } of known) {
          await lock(`research daily ${keyOf(signal)}`);
          const kept = daily.get(keyOf(signal));
          if (kept === undefined || realisedReturn === undefined) continue;
          daily.set(keyOf(signal), { ...kept, realisedReturn });
        }
      }),
    dailySignals: (strategyId, daysMax) =>
      inTurn(async () => {
        const all = daily.filter(() => true).filter((one) => one.strategyId === strategyId);
        const days = [...new Set(all.map(({ day }) => day))].sort().reverse().slice(0, daysMax);
        return all
          .filter(({ day }) => days.includes(day))
          .sort((one, other) =>
            one.day === other.day ? (one.symbol < other.symbol ? -1 : 1) : one.day < other.day ? 1 : -1,
          );
      }),
  };
}

function signalRecords(
  signals: LayeredMap<StoredSignal>,
  { inTurn }: RecordTools,
): Pick<ResearchRecords, "insertSignals" | "dueSignals" | "setRealised" | "signals" | "forgetSignals"> {
  const oldestFirst = (one: StoredSignal, other: StoredSignal): number =>
    one.at - other.at || (one.symbol < other.symbol ? -1 : 1);
  return {
    insertSignals: (added) =>
      inTurn(async () => {
        for (const signal of added) {
          if (signals.get(signalKey(signal)) === undefined) signals.set(signalKey(signal), signal);
        }
      }),
    dueSignals: (strategyId, from, by, countMax) =>
      inTurn(async () =>
        signals
          .filter(() => true)
          .filter((one) => one.strategyId === strategyId && one.realisedReturn === undefined && one.at >= from)
          .filter((one) => plusMilliseconds(one.at, one.horizonS * 1_000) <= by)
          .sort(oldestFirst)
          .slice(0, countMax),
      ),
    setRealised: (known) =>
      inTurn(async () => {
        for (const signal of known) {
          const kept = signals.get(signalKey(signal));
          if (kept === undefined || signal.realisedReturn === undefined) continue;
          signals.set(signalKey(signal), { ...kept, realisedReturn: signal.realisedReturn });
        }
      }),
    signals: (strategyId, countMax, after) =>
      inTurn(async () =>
        signals
          .filter(() => true)
          .filter((one) => one.strategyId === strategyId)
          .filter(
            (one) => after === undefined || one.at < after.at || (one.at === after.at && one.symbol > after.symbol),
          )
          .sort((one, other) => other.at - one.at || (one.symbol < other.symbol ? -1 : 1))
          .slice(0, countMax),
      ),
    forgetSignals: (before, countMax) =>
      inTurn(async () => {
        const old = signals
          .filter(() => true)
          .filter((one) => one.at < before)
          .sort(oldestFirst)
          .slice(0, countMax);
        for (const signal of old) signals.delete(signalKey(signal));
        return old.length;
      }),
  };
}

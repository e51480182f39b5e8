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

interface Tools {
  readonly inTurn: <T>(operation: () => Promise<T>) => Promise<T>;
  readonly lock: (row: string) => Promise<void>;
}

const signalKey = ({ strategyId, at, symbol }: StoredSignal): string => JSON.stringify([strategyId, at, symbol]);

/** A map with what this transaction wrote over it; undefined stands for one that it removed. */
function layer<Value>(under: Map<string, Value>) {
  const over = new Map<string, Value | undefined>();
  return {
    get: (key: string): Value | undefined => structuredClone(over.has(key) ? over.get(key) : under.get(key)),
    set: (key: string, value: Value | undefined): void => void over.set(key, structuredClone(value)),
    all: (): Value[] => {
      const merged = new Map<string, Value | undefined>([...under, ...over]);
      return [...merged.values()].filter((value) => value !== undefined).map((value) => structuredClone(value));
    },
    apply(): void {
      for (const [key, value] of over) {
        if (value === undefined) under.delete(key);
        else under.set(key, value);
      }
    },
  };
}

export function researchChanges(
  tables: ResearchTables,
  tools: Tools,
): { readonly records: ResearchRecords; apply(): void } {
  const strategies = layer(tables.strategies);
  const decisions = layer(tables.decisions);
  const signals = layer(tables.signals);
  const skill = layer(tables.skill);
  const backtests = layer(tables.backtests);
  const daily = layer(tables.daily);
  const { inTurn, lock } = tools;
  const records: ResearchRecords = {
    strategies: () =>
      inTurn(async () => strategies.all().sort((one, other) => (one.strategyId < other.strategyId ? -1 : 1))),
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
          .all()
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
  return {
    records,
    apply() {
      for (const changed of [strategies, decisions, signals, skill, backtests, daily]) changed.apply();
    },
  };
}

function dailyRecords(
  daily: ReturnType<typeof layer<DailySignal>>,
  { inTurn, lock }: Tools,
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
        const all = daily.all().filter((one) => one.strategyId === strategyId);
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
  signals: ReturnType<typeof layer<StoredSignal>>,
  { inTurn }: Tools,
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
          .all()
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
    signals: (strategyId, countMax) =>
      inTurn(async () =>
        signals
          .all()
          .filter((one) => one.strategyId === strategyId)
          .sort((one, other) => other.at - one.at || (one.symbol < other.symbol ? -1 : 1))
          .slice(0, countMax),
      ),
    forgetSignals: (before, countMax) =>
      inTurn(async () => {
        const old = signals
          .all()
          .filter((one) => one.at < before)
          .sort(oldestFirst)
          .slice(0, countMax);
        for (const signal of old) signals.set(signalKey(signal), undefined);
        return old.length;
      }),
  };
}

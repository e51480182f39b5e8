// Research's part of a unit of work: the strategies with their status, what they said and what came of it, and their backtests. Only research
// writes.
import type { Decimal } from "../contracts/src/decimal.ts";
import type { Instant } from "../contracts/src/instant.ts";
import type { StrategyStatus } from "../contracts/src/records/values.ts";

export interface StoredStrategy {
  readonly strategyId: string;
  readonly fundId: string;
  readonly status: StrategyStatus;
  /** A fraction of the fund's NAV. */
  readonly allocationPct: number;
}

/** What a strategy said of a symbol at a moment. */
export interface StoredSignal {
  readonly strategyId: string;
  readonly symbol: string;
  readonly at: Instant;
  readonly value: number;
  /** The symbol's price then: what came of it is counted from here. */
  readonly price: Decimal;
  readonly horizonS: number;
  /** Absent while the horizon runs, and for good when nobody knew the price at its end. */
  readonly realisedReturn?: number;
}

/** A day's live skill: the mean of this many rank correlations. */
export interface SkillDay {
  readonly day: string;
  readonly mean: number;
  readonly count: number;
}

/** What a strategy said of a symbol last on a trading day. */
export interface DailySignal {
  readonly strategyId: string;
  readonly day: string;
  readonly symbol: string;
  readonly value: number;
  readonly price: Decimal;
  readonly at: Instant;
  /** From that price to the last one of the next trading day; absent until then. */
  readonly realisedReturn?: number;
}

export interface StoredBacktest {
  readonly strategyId: string;
  /** What it was made of: another seed, version or allocation makes another one. */
  readonly madeOf: string;
  readonly from: string;
  readonly to: string;
  readonly annualReturn: number;
  readonly annualVolatility: number;
  /** Absent when nothing moved. */
  readonly sharpe?: number;
  readonly drawdownMax: number;
  readonly days: readonly {
    readonly day: string;
    readonly return: number;
    readonly informationCoefficient?: number;
    /** What it said after that day's close. */
    readonly signals?: readonly { readonly symbol: string; readonly value: number }[];
  }[];
}

export interface ResearchRecords {
  /** In order of their ids. */
  strategies(): Promise<readonly StoredStrategy[]>;
  /** Kept from others until this unit ends. */
  lockStrategy(strategyId: string): Promise<StoredStrategy | undefined>;
  putStrategy(strategy: StoredStrategy): Promise<void>;
  /** The next number of this strategy's decisions, from 1 on; a number that was given is never given again. */
  takeDecision(strategyId: string): Promise<number>;
  insertSignals(signals: readonly StoredSignal[]): Promise<void>;
  /** Those from `from` on whose horizon is over by then and that have no return yet, oldest first, at most so many. */
  dueSignals(strategyId: string, from: Instant, by: Instant, countMax: number): Promise<readonly StoredSignal[]>;
  setRealised(signals: readonly StoredSignal[]): Promise<void>;
  /** Newest first, of one moment in order of their symbols; from after that one on. */
  signals(
    strategyId: string,
    countMax: number,
    after?: Pick<StoredSignal, "at" | "symbol">,
  ): Promise<readonly StoredSignal[]>;
  /** Adds one rank correlation to that day's. */
  addSkill(strategyId: string, day: string, coefficient: number): Promise<void>;
  /** Newest first, at most so many. */
  skill(strategyId: string, countMax: number): Promise<readonly SkillDay[]>;
  /** Removes signals from before then, at most so many; gives how many they were. */
  forgetSignals(before: Instant, countMax: number): Promise<number>;
  /** Puts these in place of those of the same strategy, day and symbol that have no return yet. */
  putDailySignals(signals: readonly DailySignal[]): Promise<void>;
  setDailyRealised(signals: readonly DailySignal[]): Promise<void>;
  /** Of the newest so many days, newest day first, in order of their symbols. */
  dailySignals(strategyId: string, daysMax: number): Promise<readonly DailySignal[]>;
  backtest(strategyId: string): Promise<StoredBacktest | undefined>;
  putBacktest(backtest: StoredBacktest): Promise<void>;
}

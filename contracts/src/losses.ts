// What is remembered of a fund's losses between two valuations: from where on they are counted, what waits for its confirmation, and what has
// halted it. The core makes it (core/losses/drawdown.ts), the store keeps it.
import type { Decimal } from "./decimal.ts";
import type { Instant } from "./instant.ts";

/** The limits of the envelope: the calendar's three, the windows that move along, the distance from the highest value, and a strategy's own loss of the day. */
export const lossLimits = [
  "daily",
  "weekly",
  "monthly",
  "rolling_24h",
  "rolling_5d",
  "high_water",
  "strategy",
] as const;
export type EnvelopeLossLimit = (typeof lossLimits)[number];
/** `equity` is in no envelope and always on: a fund that holds positions is worth more than nothing. */
export type LossLimit = EnvelopeLossLimit | "equity";

/** A strategy's profit or loss since the fund began. */
export interface StrategyProfit {
  readonly strategyId: string;
  readonly profit: Decimal;
}

/** How many units the fund's money was, and what of it no unit stands for (core/losses/loss-units.ts); absent while no flow has changed them. */
export interface UnitCount {
  readonly units?: Decimal;
  readonly shift?: Decimal;
}

/** A fund's value at one moment, and the deposits minus withdrawals up to then. */
export interface FundValuation extends UnitCount {
  readonly at: Instant;
  readonly currency: string;
  readonly value: Decimal;
  /** While a price in it is not believed yet: what it would be at the other end. */
  readonly best?: Decimal;
  readonly netFlows: Decimal;
  /** Whether positions are held; absent when nobody said. */
  readonly holds?: boolean;
  /** Absent when nobody said what the strategies made. */
  readonly strategies?: readonly StrategyProfit[];
}

/** From where on one loss is counted. */
export interface Baseline extends UnitCount {
  readonly limit: LossLimit;
  /** Of a strategy's own loss. */
  readonly strategyId?: string;
  /** The trading day, its week's Monday or its month's first; `always` where there is none. */
  readonly period: string;
  /** 0 is the first; each choice to rebase adds one. */
  readonly version: number;
  /** The fund's value, or the strategy's profit; the latter, in what is remembered, is restated with every flow (loss-units.ts). */
  readonly value: Decimal;
  readonly netFlows: Decimal;
  /** The valuation that it is from. */
  readonly valuedAt: Instant;
  readonly setBy: string;
  readonly reason: string;
  readonly setAt: Instant;
}

/** A loss above its limit that has not been confirmed yet; it is judged from the baseline that it was found with, whatever the day is. */
export interface PendingLoss {
  readonly baseline: Baseline;
  /** The daily baseline that a strategy's loss is a share of. */
  readonly shareOf?: Baseline;
  /** Valuations in a row that showed it. */
  readonly seen: number;
  readonly since: Instant;
}

/** A loss that halted. */
export interface LossTrip {
  readonly limit: LossLimit;
  readonly strategyId?: string;
  readonly period: string;
  readonly version: number;
  readonly haltId: string;
  /** As the last valuation under that halt had it, restated with every flow since. */
  readonly loss: Decimal;
}

/** The highest value, without flows, or one that may become it. */
interface LossPeak extends UnitCount {
  readonly value: Decimal;
  readonly netFlows: Decimal;
  readonly at: Instant;
}

export interface LossState {
  readonly newest: FundValuation;
  /** The newest that somebody vouches for, while nobody vouches for `newest`: that one is judged, and nothing is counted from it. */
  readonly vouched?: FundValuation;
  /** The newest that was no jump, or a jump that was confirmed: baselines and samples are made of it. */
  readonly steady: FundValuation;
  readonly jump?: { readonly isUp: boolean; readonly seen: number; readonly since: Instant };
  /** Those of the newest periods, and of the periods right before them for what comes late. */
  readonly baselines: readonly Baseline[];
  readonly before: readonly Baseline[];
  readonly peak: LossPeak;
  readonly higher?: LossPeak & { readonly seen: number; readonly since: Instant };
  readonly sampledAt: Instant;
  /** Windows reach no further back than this. */
  readonly windowsFrom: Instant;
  readonly windowsVersion: number;
  /** The calendar that the periods are dated by, as `LossDay.by` has it; absent in what was kept before that was noted. */
  readonly datedBy?: string;
  readonly pending: readonly PendingLoss[];
  readonly trips: readonly LossTrip[];
}

/** A value of the past that a window may begin with. */
export interface LossSample extends UnitCount {
  readonly at: Instant;
  readonly value: Decimal;
  readonly netFlows: Decimal;
}

// The part of a unit of work about losses: a fund's state, the baselines of its periods, which are only ever added, and the samples that windows
// begin with.
import type { Instant } from "../contracts/src/instant.ts";
import type { Baseline, LossSample, LossState } from "../contracts/src/losses.ts";

export interface LossRecords {
  /** Kept from others until this unit ends, also while there is none. */
  lock(fundId: string): Promise<LossState | undefined>;
  put(fundId: string, state: LossState): Promise<void>;
  /** Every fund that has one, in order of their ids. */
  all(): Promise<readonly { readonly fundId: string; readonly state: LossState }[]>;
  /** False when that limit, strategy, period and version has its baseline already: what was written stays. */
  putBaseline(fundId: string, baseline: Baseline): Promise<boolean>;
  /** Newest first. */
  baselines(fundId: string, countMax: number): Promise<readonly Baseline[]>;
  /** Keeps it, and forgets those before the newest that is not after `keepFrom`. One of the same moment stays as it is. */
  putSample(fundId: string, sample: LossSample, keepFrom: Instant): Promise<void>;
  /** The newest that is not after that moment, else the oldest. */
  sampleAt(fundId: string, moment: Instant): Promise<LossSample | undefined>;
}

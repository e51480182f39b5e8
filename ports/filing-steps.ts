// What order management published about the orders of funds that are enabled for a regulator, and since when they are; in a unit of work. Only operations
// writes it, and no row changes.
//
// What every store promises (testkit/conformance/filing-steps.ts):
//  1. A step that was kept before changes nothing.
//  2. Steps of an order come in the order of their own times.
//  3. The newest switch of a fund and regime counts, and so do the settings that were kept newest.
import type { Instant } from "../contracts/src/instant.ts";
import type { FundFilings, LifeStep, RegimeName } from "../contracts/src/records/filing.ts";

export interface KeptStep {
  readonly fundId: string;
  readonly orderId: string;
  /** The order that it is a part of. */
  readonly parentOrderId?: string | undefined;
  /** Who published it. */
  readonly source: string;
  readonly step: LifeStep;
}

export interface FilingSwitch {
  readonly regime: RegimeName;
  readonly fundId: string;
  readonly isEnabled: boolean;
  readonly at: Instant;
}

export interface KeptSettings {
  readonly fundId: string;
  readonly at: Instant;
  readonly settings: FundFilings;
}

export interface FilingStepRecords {
  keep(step: KeptStep): Promise<void>;
  /** At most so many, the oldest first. */
  ofOrder(fundId: string, orderId: string, countMax: number): Promise<readonly KeptStep[]>;
  /** The orders that are a part of this one, by their ids. */
  partsOf(fundId: string, orderId: string, countMax: number): Promise<readonly string[]>;
  switchTo(to: FilingSwitch): Promise<void>;
  /** Of each fund and regime the newest. */
  switches(): Promise<readonly FilingSwitch[]>;
  /** The oldest first; at most so many, which are the newest. */
  switchesOf(regime: RegimeName, fundId: string, countMax: number): Promise<readonly FilingSwitch[]>;
  /** What the configuration says of a fund's filings from that moment on. */
  keepSettings(of: KeptSettings): Promise<void>;
  /** The oldest first; at most so many, which are the newest. */
  settingsOf(fundId: string, countMax: number): Promise<readonly KeptSettings[]>;
}

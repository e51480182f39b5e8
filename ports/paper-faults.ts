// What the paper broker and the paper market are made to suffer, as a part of a unit of work: it is changed in the same transaction as the
// event that says so. Whoever plays broker or market reads it a second later at the latest.
import type { PaperWeather } from "../contracts/src/records/fund.ts";

export interface PaperFaultsRecords {
  /** What is in force, kept from others until this unit ends; undefined when nobody has ever changed it. */
  lock(): Promise<PaperWeather | undefined>;
  put(faults: PaperWeather): Promise<void>;
}

// The part of a unit of work about drills: what each measured. A drill is written down once, when it is over.
import type { DrillMeasured } from "../contracts/src/records/halt.ts";

export interface DrillRecords {
  /** False when it is there already. */
  insert(drill: DrillMeasured): Promise<boolean>;
  /** Newest first; after one that is not there nothing follows. */
  newest(countMax: number, afterDrillId?: string): Promise<readonly DrillMeasured[]>;
}

// The part of a unit of work about restrictions: what watchdogs keep from being done. A watchdog opens and ends them in the transaction of its episode, so
// that no restriction stands without an open episode. They are never removed: an ended one says that its episode opens it no more.
import type { NewRestriction, Restriction, RestrictionEnding } from "../contracts/src/records/restriction.ts";

export interface RestrictionRecords {
  /**
   * Opens it, or gives the one that its episode opened before with the same kind and scope, unchanged: its id, factor and base are the first ones, and
   * one that was ended stays ended. One that would restrict nothing is a Defect.
   */
  open(restriction: NewRestriction): Promise<Restriction>;
  /** Ends those of them that are open, and gives these; an unknown one and one that has ended are passed over. */
  end(restrictionIds: readonly string[], ending: RestrictionEnding): Promise<readonly Restriction[]>;
  /** All open ones, oldest first. */
  listOpen(): Promise<readonly Restriction[]>;
  /** Open and ended ones of an episode, oldest first. */
  ofEpisode(episodeId: string): Promise<readonly Restriction[]>;
  /** Kept from others until this unit ends. */
  lock(restrictionId: string): Promise<Restriction | undefined>;
  /** Newest first. Of a fund: also those of every fund. After one that is not there nothing follows. */
  list(query: {
    readonly fundId?: string;
    readonly afterRestrictionId?: string;
    readonly openOnly: boolean;
    readonly countMax: number;
  }): Promise<readonly Restriction[]>;
}

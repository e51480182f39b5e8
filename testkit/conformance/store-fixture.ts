// What the store suite asks of a store that is put under it, and the shape of one check.
import type { Outcome, Store } from "../../ports/store.ts";
import type { Patience } from "./waiting.ts";

export interface CommittedEvent {
  readonly id: string;
  readonly subject: string;
  readonly key: string;
  readonly payload: unknown;
}

/** An empty store that knows the subjects of ./subjects.ts. Every check opens its own and closes it. */
export interface StoreFixture extends Patience {
  readonly store: Store;
  /** How often the store runs a work before it gives up with STORE_CONFLICT. */
  readonly attemptsMax: number;
  /** Every committed event in commit order, read past the store (and also when that is closed). */
  committed(): Promise<readonly CommittedEvent[]>;
  /** Makes the next that many attempts to commit fail as a serialization failure does. */
  conflictNext(times: number): Promise<void>;
  /** Loses the answer to the next COMMIT, which in truth has this outcome. */
  loseNextCommitAnswer(outcome: Outcome): Promise<void>;
  /** A new store on the same data, as after a restart of the program; closes the old one unless it is closed already. */
  reopen(): Promise<Store>;
  /** Ends everything and removes what the fixture made. */
  close(): Promise<void>;
}

export interface StoreCheck {
  /** The number in ports/store.ts; 0 for what the interface's own comments say. */
  readonly promise: number;
  readonly sentence: string;
  run(fixture: StoreFixture): Promise<void>;
}

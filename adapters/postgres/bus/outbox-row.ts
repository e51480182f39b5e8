// A row of the outbox, or of the journal, as a reader of the bus gets it.
import type { Instant } from "../../../contracts/src/instant.ts";

export interface OutboxRow {
  /** Where the row stands; the cursor is the highest id that has been dealt with. */
  readonly id: bigint;
  readonly eventId: string;
  readonly at: Instant;
  readonly subject: string;
  readonly key: string;
  readonly source: string;
  /** The exact JSON text that was published; empty where `record` stands in its place. */
  readonly payload: string;
  /** A decision of the journal, packed; decision-rows.ts tells its messages. */
  readonly record?: Uint8Array;
  /** Why nobody may get it, when that is known already. */
  readonly poison?: string;
}

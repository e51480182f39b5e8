// What somebody asks the sequencer to append, and how the sequencer stands.
import type { Instant } from "../../../../contracts/src/instant.ts";

export interface AppendRequest {
  /** What the entry is made of; unique in the log. */
  readonly eventId: string;
  readonly actor: string;
  readonly action: string;
  readonly subjectId: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** Whoever says so made the data from what a decoder gave it: plain objects all the way, which need not be read through their descriptors. */
  readonly isPlain?: boolean;
  /** When it happened, if somebody knows: stands in the data as `at`. The entry's own time is the log's. */
  readonly at?: Instant;
}

export type SequencerState = "open" | "asking" | "taken over" | "standing still" | "stopping";

// Since when something stands that a job looks for again and again, as a part of a unit of work: the job that started a minute ago knows what the
// one before it saw first.
import type { Instant } from "../contracts/src/instant.ts";

export interface FirstSeenRecords {
  /** What stands of that kind, by what it is about. */
  all(kind: string): Promise<ReadonlyMap<string, Instant>>;
  /** Keeps these moments for what is not known yet; whatever is known keeps its own. */
  put(kind: string, seen: ReadonlyMap<string, Instant>): Promise<void>;
  /** It does not stand any more. */
  remove(kind: string, abouts: readonly string[]): Promise<void>;
}

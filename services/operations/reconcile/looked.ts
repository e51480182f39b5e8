// What one comparison with a broker found.
import type { StoredDifference } from "../../../ports/reconcile-records.ts";

/** What a look over some accounts gave. */
export interface Looked {
  readonly compared: readonly string[];
  readonly unanswered: readonly { readonly account: string; readonly why: string }[];
  readonly symbols: number;
  readonly differences: readonly StoredDifference[];
  /** Something waits for another look soon. */
  readonly isUnsettled: boolean;
}

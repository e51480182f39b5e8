// Something outside of the platform that it needs, asked whether it answers. It is asked again and again: asking costs nothing but the answer, and
// changes nothing.
//
// What every adapter promises:
//  1. It gives up when the signal aborts.
//  2. What went wrong is a sentence without addresses' credentials, keys or what was sent.
import type { Health } from "./health.ts";

export interface Upstream {
  /** As people know it: "identity", "model". */
  readonly name: string;
  /** Rejects, or is failing, when it does not answer as it should. */
  ask(signal: AbortSignal): Promise<Health>;
}

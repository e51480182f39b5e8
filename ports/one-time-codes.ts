// One-time codes that come with the request that they are for: shown, judged and used up at once, where a proof (ports/step-ups.ts) would be one
// question more. A code that was accepted opened this action for this person and nothing else.
//
// What every adapter promises:
//  1. A code is accepted at most once, and never after a later one; too many wrong ones in a row lock, as everywhere else.
//  2. Judging is durable before it is answered, whatever the answer is, and leaves an event: nobody gets a guess for free.
//  3. When nobody judges, the answer comes within seconds and is SECOND_FACTOR_UNCHECKED; the code is not used then, or opens nothing.
import type { Denial } from "../contracts/src/codes.ts";
import type { Identity, NamedAction } from "./identity.ts";

export interface OneTimeCodes {
  /** Undefined when it was accepted; else SECOND_FACTOR_MISSING, SECOND_FACTOR_WRONG, SECOND_FACTOR_LOCKED or SECOND_FACTOR_UNCHECKED. */
  prove(identity: Identity, named: NamedAction, code: string): Promise<Denial | undefined>;
}

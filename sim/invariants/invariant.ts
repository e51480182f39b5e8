// The shape of an invariant of the platform: a name, one sentence with its reason, and one function from the evidence to a complaint or nothing.
import type { Evidence } from "../evidence.ts";
import type { Reported } from "../reported.ts";

export interface Invariant {
  readonly name: string;
  readonly sentence: string;
  /** What is wrong, in one sentence, or undefined when nothing is. Asked for every message before it counts, and for the whole after every step. */
  violated(evidence: Evidence): string | undefined;
}

/** Looks at messages of one subject only. */
export function onMessage<Payload>(
  { reported }: Evidence,
  subject: { readonly name: string },
  look: (payload: Payload, reported: Reported) => string | undefined,
): string | undefined {
  return reported?.subject === subject.name ? look(reported.payload as Payload, reported) : undefined;
}

/** The first complaint about any of them. */
export function first<One>(all: Iterable<One>, complaint: (one: One) => string | undefined): string | undefined {
  for (const one of all) {
    const found = complaint(one);
    if (found !== undefined) return found;
  }
  return undefined;
}

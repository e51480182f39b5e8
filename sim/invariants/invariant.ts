// The shape of an invariant of the platform: a name, one sentence with its reason, and one function from the evidence to a complaint or nothing.
import type { Evidence } from "../evidence.ts";
import type { Told } from "../told.ts";

export interface Invariant {
  readonly name: string;
  readonly sentence: string;
  /** What is wrong, in one sentence, or undefined when nothing is. Asked for every message before it counts, and for the whole after every step. */
  violated(evidence: Evidence): string | undefined;
}

/** Looks at messages of one subject only. */
export function onMessage<Payload>(
  { told }: Evidence,
  subject: { readonly name: string },
  look: (payload: Payload, told: Told) => string | undefined,
): string | undefined {
  return told?.subject === subject.name ? look(told.payload as Payload, told) : undefined;
}

/** The first complaint about any of them. */
export function first<One>(all: Iterable<One>, complaint: (one: One) => string | undefined): string | undefined {
  for (const one of all) {
    const found = complaint(one);
    if (found !== undefined) return found;
  }
  return undefined;
}

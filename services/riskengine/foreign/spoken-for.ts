// For whom each login of NATS spoke when it was heard last. Its numbers are kept under its own name, and whether they matter is asked of the source.
import type { BusEvent } from "../../../ports/bus.ts";
import { foreignSourceOf, numberedBy } from "../../shared/foreign-intake.ts";

export interface SpokenFor {
  heard(event: BusEvent): void;
  /** Whether what is numbered under one name is that source's. */
  isOf(numbered: string, source: string): boolean;
}

/** What is beyond counts as not heard; a fund whose values are not heard takes no new risk anyway. */
const loginsMax = 10_000;

export function createSpokenFor(): SpokenFor {
  const spoken = new Map<string, string>();
  return {
    heard(event) {
      const numbered = numberedBy(event);
      if (spoken.has(numbered) || spoken.size < loginsMax) spoken.set(numbered, foreignSourceOf(event));
    },
    isOf: (numbered, source) => numbered === source || spoken.get(numbered) === source,
  };
}

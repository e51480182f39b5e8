// What becomes of one event of a foreign system, wherever it comes in: at the gRPC door, or where its NATS message is taken. Pure: whoever calls it keeps
// the position that comes of it, in the unit of work that takes or refuses the event.
//
//  1. An event is taken or refused by what it says, never by its number: a gap blocks new risk and is no reason to refuse a fact.
//  2. An event that can be read uses up its number, refused or not: its publisher did send it. One about a fund that nobody knows has no numbering to be
//     counted in.
//  3. Under an id that said something else before it is refused, whatever it says.

import type { Instant } from "../../contracts/src/instant.ts";
import { type EventStanding, type ForeignEvent, type KnownReference, numberOf, refusalOf } from "./judge-event.ts";
import { type ForeignPosition, hearNumber, type Numbering, nothingHeard } from "./numbering.ts";
import type { Refusal } from "./refusal.ts";

export interface Judged {
  /** Undefined: it is taken. */
  readonly refusal: Refusal | undefined;
  /** UNNUMBERED: it is taken or refused all the same, and its publisher cannot know what was lost. UNCOUNTED: its fund is not known. */
  readonly numbering: Numbering | "UNNUMBERED" | "UNCOUNTED";
  /** As it is to be kept; the one that was given when nothing changed. */
  readonly position: ForeignPosition;
}

interface Judging {
  readonly event: ForeignEvent;
  readonly known: KnownReference;
  /** Of the event's source, fund and kind, as it is kept. */
  readonly position: ForeignPosition | undefined;
  readonly standing?: EventStanding | undefined;
  /** Set when its id said something else before. */
  readonly reused?: Refusal | undefined;
  readonly at: Instant;
  /** Names the gap that it may open. */
  readonly gapId: string;
}

export function judgeForeign({ event, known, position = nothingHeard, standing, reused, at, gapId }: Judging): Judged {
  const refusal = reused ?? refusalOf(event, known, standing);
  const { fundId, sequence } = numberOf(event);
  if (known.fund(fundId) === undefined) return { refusal, numbering: "UNCOUNTED", position };
  if (sequence === undefined) return { refusal, numbering: "UNNUMBERED", position };
  return { refusal, ...hearNumber(position, sequence, at, gapId) };
}

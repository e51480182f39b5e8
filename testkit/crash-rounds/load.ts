// What travels during the crash rounds: a source event per change, and one effect per source event that a subscriber acted on. Both
// are subjects of the platform itself, because the children run the platform's own composition.
import * as instant from "../../contracts/src/instant.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { BusEvent } from "../../ports/bus.ts";
import type { EventWriter } from "../../ports/store.ts";

/** The durable name that both subscribers share. */
export const subscriptionName = "crash-rounds.subscriber";
export const keyCount = 6;
export const sourceSubject = subjects.secretChanged;
export const effectSubject = subjects.operatorAttempted;

const at = instant.format(instant.fromUnixMs(0));

/** `author` is one lane of one incarnation of a writer: it numbers its events in the order in which it makes them. */
export function publishSource(
  events: EventWriter,
  source: { readonly key: string; readonly author: string; readonly number: number },
): Promise<string> {
  return events.publish(sourceSubject, { path: source.key, version: source.number, actor: source.author, at });
}

export function publishEffect(events: EventWriter, cause: BusEvent): Promise<string> {
  const about = { operator: cause.key, verb: "effect", target: cause.id, allowed: true, reason: "" };
  return events.publish(effectSubject, { ...about, at });
}

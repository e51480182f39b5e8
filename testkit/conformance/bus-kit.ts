// Small tools that the bus checks share: a subscriber that remembers, and a publisher of one event per transaction.
import type { Subject } from "../../contracts/src/subject.ts";
import type { Bus, BusEvent, DurableOptions, Subscription } from "../../ports/bus.ts";
import type { Store } from "../../ports/store.ts";
import { type Thing, thingChanged } from "./subjects.ts";

export interface Recorder {
  readonly events: BusEvent[];
  readonly subscription: Subscription;
  /** The `n` of each event, in order of arrival. */
  numbers(): number[];
  ids(): string[];
}

export function thingOf(event: BusEvent): Thing {
  return event.payload as Thing;
}

/** Subscribes durably and remembers each event once `before` has let it through. */
export async function record(
  bus: Bus,
  options: Partial<DurableOptions> & { readonly name: string },
  before?: (event: BusEvent) => Promise<void>,
): Promise<Recorder> {
  const events: BusEvent[] = [];
  const subscription = await bus.subscribe({ subjects: [thingChanged.name], ...options }, async (event) => {
    await before?.(event);
    events.push(event);
  });
  return {
    events,
    subscription,
    numbers: () => events.map((event) => thingOf(event).n),
    ids: () => events.map((event) => event.id),
  };
}

/** Commits one event in a transaction of its own and gives its id. */
export function publish(store: Store, thing: Thing, subject: Subject<Thing> = thingChanged): Promise<string> {
  return store.transact("conformance.publish", (unit) => unit.events.publish(subject, thing));
}

/** Commits events numbered from..to under one key, one transaction after the other. */
export async function publishMany(store: Store, key: string, from: number, to: number): Promise<string[]> {
  const ids: string[] = [];
  for (let n = from; n <= to; n += 1) ids.push(await publish(store, { key, n }));
  return ids;
}

export function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_unused, index) => from + index);
}

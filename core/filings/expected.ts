// What a regulator must hear of an order on a day, made of the steps that the audit log has: what must be recorded by now, and what may still come.
import type { Instant } from "../../contracts/src/instant.ts";
import type { LifeStep } from "../../contracts/src/records/filing.ts";
import { beginningOf, eventsOfLife } from "./life.ts";
import { beginnings, type KnownOrder, type RegulatoryEvent } from "./regulatory-event.ts";

interface ExpectedLife {
  /** Of the whole life, what was heard and what may not have been yet. */
  readonly events: readonly RegulatoryEvent[];
  /** Of what must have been heard. */
  readonly settled: readonly RegulatoryEvent[];
}

interface LivedSteps {
  readonly steps: readonly LifeStep[];
  /** Ids of steps that need not have been heard yet. */
  readonly pending: ReadonlySet<string>;
}

export function expectedLife({ steps, pending }: LivedSteps): ExpectedLife {
  const events = eventsOfLife(steps);
  if (pending.size === 0) return { events, settled: events };
  return { events, settled: eventsOfLife(steps.filter(({ id }) => !pending.has(id))) };
}

/** When the order began; undefined while nobody knows its terms. */
export function beganAt(steps: readonly LifeStep[]): Instant | undefined {
  const ordered = steps.toSorted((one, other) => one.at - other.at);
  return beginningOf(ordered)?.at;
}

/** What the record of its beginning says of an order; undefined of one that is new itself. */
export function knownBy(events: readonly RegulatoryEvent[], event: RegulatoryEvent): KnownOrder | undefined {
  const [first] = events;
  if (first === undefined || beginnings.includes(event.type)) return undefined;
  return knownOf(first);
}

export function knownOf({ order, at, type }: RegulatoryEvent): KnownOrder {
  return { orderId: order.order_id, symbol: order.symbol, beganAt: at, isChild: type === "child_order" };
}

/** A fund is enabled in the order of its switches; an order that began before the first of them is left out whole. */
export function isBeforeEnabled(began: Instant | undefined, firstEnabledAt: Instant | undefined): boolean {
  return firstEnabledAt === undefined || began === undefined || began < firstEnabledAt;
}

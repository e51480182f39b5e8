// The bounded queue of an ephemeral subscription, for every transport over a network. It drops by its named policy and counts
// what it dropped.
import type { BusEvent, OverflowPolicy } from "../../ports/bus.ts";

interface OverflowQueue {
  push(event: BusEvent): void;
  shift(): BusEvent | undefined;
  size(): number;
  droppedCount(): number;
}

export function overflowQueue(queueMax: number, policy: OverflowPolicy): OverflowQueue {
  const placesMax = Math.max(1, queueMax);
  return policy === "drop-oldest" ? dropOldest(placesMax) : keepNewestPerKey(placesMax);
}

function dropOldest(queueMax: number): OverflowQueue {
  const events: BusEvent[] = [];
  let dropped = 0;
  return {
    push(event) {
      events.push(event);
      if (events.length <= queueMax) return;
      events.shift();
      dropped++;
    },
    shift: () => events.shift(),
    size: () => events.length,
    droppedCount: () => dropped,
  };
}

/** An event replaces the queued one of its subject and key; with more keys than room the key that waited longest goes. */
function keepNewestPerKey(queueMax: number): OverflowQueue {
  const newest = new Map<string, BusEvent>();
  let dropped = 0;
  return {
    push(event) {
      const slot = `${event.subject}\n${event.key}`;
      // Taking it out first moves the key to the end: its news is newer than that of the others.
      if (newest.delete(slot)) dropped++;
      newest.set(slot, event);
      if (newest.size <= queueMax) return;
      const [oldest] = newest.keys();
      if (oldest !== undefined) newest.delete(oldest);
      dropped++;
    },
    shift() {
      const [first] = newest;
      if (first === undefined) return undefined;
      newest.delete(first[0]);
      return first[1];
    },
    size: () => newest.size,
    droppedCount: () => dropped,
  };
}

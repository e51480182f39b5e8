// What must hold after every step of a simulated run, whatever fails. Each is a name, one sentence with its reason, and one
// pure function from the evidence to a complaint or nothing.
import { type Evidence, pairOf } from "./evidence.ts";

export interface Invariant {
  readonly name: string;
  readonly sentence: string;
  /** What is wrong, in one sentence, or undefined when nothing is. */
  violated(evidence: Evidence): string | undefined;
}

const acknowledgedIsKept: Invariant = {
  name: "acknowledged_is_kept",
  sentence: "An event whose commit was acknowledged is in the log, because an answer that left is a promise.",
  violated({ acknowledged, byId }) {
    for (const id of acknowledged) if (!byId.has(id)) return `event ${id} was acknowledged and is not in the log`;
    return undefined;
  },
};

const withdrawnIsGone: Invariant = {
  name: "withdrawn_is_gone",
  sentence:
    "An event of a transaction that was refused is not in the log, because its caller was told that nothing remains.",
  violated({ withdrawn, byId }) {
    for (const id of withdrawn) if (byId.has(id)) return `event ${id} was withdrawn and is in the log`;
    return undefined;
  },
};

const deliveredWasCommitted: Invariant = {
  name: "delivered_was_committed",
  sentence: "A handler sees committed events only and as they were written, because it acts on them for good.",
  violated({ deliveries, byId }) {
    for (const { subscription, eventId, text, logLength } of deliveries) {
      const event = byId.get(eventId);
      if (event === undefined || event.position >= logLength) {
        return `${subscription} was handed ${eventId} before its commit`;
      }
      if (text !== event.text) return `${subscription} was handed another ${eventId} than was written`;
    }
    return undefined;
  },
};

const nothingIsPassed: Invariant = {
  name: "nothing_is_passed",
  sentence:
    "Every committed event was delivered to every durable subscription or is still ahead of its place, because a place that has passed an event never comes back to it.",
  violated({ hearings }) {
    for (const { subscription, wanted, delivered, parked, isAhead } of hearings) {
      const passed = wanted.find(({ id, position }) => !delivered.has(id) && !isAhead(position) && !parked.has(id));
      if (passed !== undefined) return `${subscription} has passed event ${passed.id} at ${passed.position}`;
    }
    return undefined;
  },
};

const actsOnce: Invariant = {
  name: "acts_once",
  sentence:
    "No subscription acts twice on one event, because delivery is at least once and the effect must be exactly once.",
  violated({ effects }) {
    const seen = new Set<string>();
    for (const { pair, payload } of effects) {
      if (seen.has(pair)) return `${payload.subscription} acted twice on ${payload.eventId}`;
      seen.add(pair);
    }
    return undefined;
  },
};

const orderWithinAKey: Invariant = {
  name: "order_within_a_key",
  sentence: "Changes and effects of one row follow its commit order, because the last one decides what the row is.",
  violated({ log }) {
    const last = new Map<string, number>();
    for (const { id, line, payload } of log) {
      if (payload.n <= (last.get(line) ?? 0)) return `event ${id} (${line}, number ${payload.n}) is out of order`;
      last.set(line, payload.n);
    }
    return undefined;
  },
};

const handledEqualsEffects: Invariant = {
  name: "handled_equals_effects",
  sentence: "What counts as handled is exactly what has an effect, because both were written by one transaction.",
  violated({ handled, effects }) {
    const made = new Set(effects.map(({ pair }) => pair));
    for (const pair of handled) if (!made.has(pair)) return `${pair} counts as handled and has no effect`;
    for (const pair of made) if (!handled.has(pair)) return `${pair} has an effect and does not count as handled`;
    return undefined;
  },
};

const oneAtATime: Invariant = {
  name: "one_at_a_time",
  sentence:
    "Processes that share a durable name handle one event at a time, because otherwise a key would lose its order.",
  violated({ inHand }) {
    const two = [...inHand].find(([, count]) => count > 1);
    return two === undefined ? undefined : `${two[0]} has ${two[1]} events in hand`;
  },
};

const nothingIsLeftOver: Invariant = {
  name: "nothing_is_left_over",
  sentence: "When the faults are over every change has its effects, because late is allowed and never is not.",
  violated({ settled, hearings, effects }) {
    if (!settled) return undefined;
    const made = new Set(effects.map(({ pair }) => pair));
    for (const { subscription, acts, wanted, delivered, parked } of hearings) {
      const left = wanted.find(
        ({ id }) => !parked.has(id) && !(acts ? made.has(pairOf(subscription, id)) : delivered.has(id)),
      );
      if (left !== undefined) return `${subscription} never ${acts ? "acted on" : "heard of"} ${left.id}`;
    }
    return undefined;
  },
};

export const invariants: readonly Invariant[] = [
  acknowledgedIsKept,
  withdrawnIsGone,
  deliveredWasCommitted,
  nothingIsPassed,
  actsOnce,
  orderWithinAKey,
  handledEqualsEffects,
  oneAtATime,
  nothingIsLeftOver,
];

export interface Violation {
  readonly invariant: Invariant;
  readonly complaint: string;
}

export function firstViolation(evidence: Evidence): Violation | undefined {
  for (const invariant of invariants) {
    const complaint = invariant.violated(evidence);
    if (complaint !== undefined) return { invariant, complaint };
  }
  return undefined;
}

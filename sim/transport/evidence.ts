// What a simulated run leaves behind for the invariants to look at: what was promised to callers, what was delivered to
// handlers, and what the world holds. It is gathered beside the simulated code, never by it.

import { matchesAny } from "../../contracts/src/subjects.ts";
import type { MemoryTables } from "../../testkit/memory/tables.ts";
import { effectMade, type SimPayload } from "./subjects.ts";

export interface LoggedEvent {
  readonly id: string;
  readonly position: number;
  readonly subject: string;
  /** The payload as it was written. */
  readonly text: string;
  readonly payload: SimPayload;
  /** Events with one line must follow each other in the order of their numbers. */
  readonly line: string;
}

/** A committed effect: what a subscription did about an event. */
export interface Effect extends LoggedEvent {
  readonly pair: string;
}

export interface Delivery {
  readonly subscription: string;
  readonly eventId: string;
  /** The payload as it arrived. */
  readonly text: string;
  /** How long the log was when the handler was called. */
  readonly logLength: number;
}

/** What one durable subscription should have heard, and what it has. */
export interface Hearing {
  readonly subscription: string;
  /** Whether it acts on what it hears, once per event. */
  readonly acts: boolean;
  readonly wanted: readonly LoggedEvent[];
  readonly delivered: ReadonlySet<string>;
  readonly parked: ReadonlySet<string>;
  /** Whether its saved place has not passed this position yet. */
  isAhead(position: number): boolean;
}

export interface Evidence {
  readonly log: readonly LoggedEvent[];
  readonly byId: ReadonlyMap<string, LoggedEvent>;
  readonly effects: readonly Effect[];
  readonly acknowledged: ReadonlySet<string>;
  readonly withdrawn: ReadonlySet<string>;
  readonly deliveries: readonly Delivery[];
  readonly hearings: readonly Hearing[];
  /** Pairs of subscription and event that the store counts as handled. */
  readonly handled: ReadonlySet<string>;
  /** How many live handlers each subscription has at work at this moment. */
  readonly inHand: ReadonlyMap<string, number>;
  /** True at the very end, when no fault is left, everybody runs and nothing is left to do. */
  readonly settled: boolean;
}

/** A durable subscription of the run, as the witness must know it. */
export interface Subscribed {
  readonly name: string;
  readonly subjects: readonly string[];
  readonly acts: boolean;
}

export interface Witness {
  acknowledge(eventId: string): void;
  withdraw(eventId: string): void;
  deliver(subscription: string, eventId: string, payload: unknown): void;
  /** The handler of an incarnation begins or ends; an incarnation that died has nothing in hand. */
  begin(subscription: string, incarnation: string): void;
  end(subscription: string, incarnation: string): void;
  died(incarnation: string): void;
  /** Changes whenever there is something new to look at. */
  version(): number;
  evidence(settled: boolean): Evidence;
}

export function pairOf(subscription: string, eventId: string): string {
  return JSON.stringify([subscription, eventId]);
}

interface Notebook {
  readonly log: LoggedEvent[];
  readonly byId: Map<string, LoggedEvent>;
  readonly effects: Effect[];
  readonly deliveries: Delivery[];
  readonly hearings: (Hearing & { readonly wanted: LoggedEvent[]; readonly delivered: Set<string> })[];
}

/** Copies what is new in the world's log; what was looked at before is never looked at again. */
function readOn(tables: MemoryTables, notebook: Notebook, subscribed: readonly Subscribed[]): void {
  for (const { id, position, subject, bytes } of tables.log.slice(notebook.log.length)) {
    const text = new TextDecoder().decode(bytes);
    const payload = JSON.parse(text) as SimPayload;
    const line = `${subject} ${payload.subscription ?? ""} ${payload.key}`;
    const event = { id, position, subject, text, payload, line };
    notebook.log.push(event);
    notebook.byId.set(id, event);
    if (subject === effectMade.name) {
      notebook.effects.push({ ...event, pair: pairOf(payload.subscription ?? "", payload.eventId ?? "") });
    }
    for (const [index, { subjects }] of subscribed.entries()) {
      if (matchesAny(subjects, subject)) notebook.hearings[index]?.wanted.push(event);
    }
  }
}

function hearingOf(tables: MemoryTables, { name, acts }: Subscribed): Notebook["hearings"][number] {
  return {
    subscription: name,
    acts,
    wanted: [],
    delivered: new Set(),
    get parked() {
      return new Set(tables.parked.filter((one) => one.subscription === name).map((one) => one.eventId));
    },
    isAhead(position) {
      const state = tables.durables.get(name);
      return state === undefined || (position >= state.place && !state.done.has(position));
    },
  };
}

export function witness(tables: MemoryTables, subscribed: readonly Subscribed[]): Witness {
  const hearings = subscribed.map((one) => hearingOf(tables, one));
  const notebook: Notebook = { log: [], byId: new Map(), effects: [], deliveries: [], hearings };
  const acknowledged = new Set<string>();
  const withdrawn = new Set<string>();
  const working = new Map<string, string[]>();
  let notes = 0;

  const setHands = (subscription: string, change: (hands: readonly string[]) => string[]) => {
    working.set(subscription, change(working.get(subscription) ?? []));
    notes += 1;
  };

  return {
    acknowledge(eventId) {
      acknowledged.add(eventId);
      notes += 1;
    },
    withdraw(eventId) {
      withdrawn.add(eventId);
      notes += 1;
    },
    deliver(subscription, eventId, payload) {
      const text = JSON.stringify(payload);
      notebook.deliveries.push({ subscription, eventId, text, logLength: tables.log.length });
      hearings.find((hearing) => hearing.subscription === subscription)?.delivered.add(eventId);
      notes += 1;
    },
    begin: (subscription, incarnation) => setHands(subscription, (hands) => [...hands, incarnation]),
    end: (subscription, incarnation) =>
      setHands(subscription, (hands) => hands.filter((_one, index) => index !== hands.indexOf(incarnation))),
    died(incarnation) {
      for (const subscription of working.keys()) {
        setHands(subscription, (hands) => hands.filter((one) => one !== incarnation));
      }
    },
    version: () => notes + tables.log.length,
    evidence(settled) {
      readOn(tables, notebook, subscribed);
      const inHand = new Map([...working].map(([subscription, hands]) => [subscription, hands.length]));
      return { ...notebook, acknowledged, withdrawn, handled: new Set(tables.handled.keys()), inHand, settled };
    },
  };
}

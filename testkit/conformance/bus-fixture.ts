// What the bus suite asks of a transport that is put under it, and the shape of one check.
import type { Bus } from "../../ports/bus.ts";
import type { Store } from "../../ports/store.ts";
import type { Patience } from "./waiting.ts";

/** One process's view of the transport. */
export interface BusPeer {
  readonly store: Store;
  readonly bus: Bus;
}

export interface MortalPeer extends BusPeer {
  /** Ends this peer as kill -9 would: nothing is finished, nothing is said, its connections are gone. */
  die(): Promise<void>;
}

export interface ParkedEvent {
  /** The durable subscription that could not handle it. */
  readonly subscription: string;
  readonly eventId: string;
}

/** An empty transport that knows the subjects of ./subjects.ts. Every check opens its own and closes it. */
export interface BusFixture extends BusPeer, Patience {
  /** One more process on the same transport. */
  another(): Promise<MortalPeer>;
  /** Closes the first process's bus cleanly and opens it anew; `bus` is the old one from then on. */
  reopenBus(): Promise<Bus>;
  /** Puts an event into the transport past the schema check, as a foreign or older program might; gives its id. */
  injectRaw(event: { readonly subject: string; readonly key: string; readonly payload: unknown }): Promise<string>;
  /**
   * Takes a place in the transport's order for an event now and commits it when told to, as a transaction does that is slow to
   * commit. Needed where the store itself takes the place only at the last moment; absent = the store's own transaction does.
   */
  holdEvent?(event: { readonly subject: string; readonly key: string; readonly payload: unknown }): Promise<HeldEvent>;
  /** What was parked and reported so far. */
  parked(): Promise<readonly ParkedEvent[]>;
  /** Cuts the first process off from the transport until the returned function is called; where the fixture can do it. */
  outage?(): Promise<() => Promise<void>>;
  /** Ends every process and removes what the fixture made. */
  close(): Promise<void>;
}

export interface HeldEvent {
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

export interface BusCheck {
  /** The number in ports/bus.ts. */
  readonly promise: number;
  readonly sentence: string;
  run(fixture: BusFixture): Promise<void>;
}

// The simulated services: writers that change rows and publish it, and subscribers that act on each change exactly once.
// They know their ports and the witness, nothing of the faults around them.
import { Fault } from "../../contracts/src/fault.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import type { Bus, BusEvent } from "../../ports/bus.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Random } from "../../ports/random.ts";
import type { Store } from "../../ports/store.ts";
import type { Timers } from "../../ports/timers.ts";
import type { Prng } from "../../testkit/virtual/prng.ts";
import type { Subscribed, Witness } from "./evidence.ts";
import { effectMade, rowChanged, type SimPayload } from "./subjects.ts";

export type SimPorts = {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly store: Store;
  readonly bus: Bus;
};

/** What one start of a service gets; its name is new for every start. */
export interface Start {
  readonly incarnation: string;
  readonly ports: SimPorts;
  readonly prng: Prng;
  readonly witness: Witness;
  isStopping(): boolean;
}

export interface SimService {
  readonly name: string;
  /** The durable subscription it serves, if any. */
  readonly subscription?: Subscribed;
  start(start: Start): Promise<void>;
}

export const rowKeys: readonly string[] = ["row-a", "row-b", "row-c", "row-d"];

/** Before anything fails: the rows that the writers will fight about. */
export async function registerRows(store: Store, at: Instant): Promise<void> {
  await store.transact("sim.rows", async (unit) => {
    for (const incarnation of rowKeys) {
      const row = { service: "sim", incarnation, host: "sim", pid: 1, startedAt: at, leaseUntil: at };
      await unit.instances.register(row);
    }
  });
}

/** Writers share a counter per row: it is raised while the row is held, so it runs in commit order. */
export function writer(name: string, counters: Map<string, number>): SimService {
  const change = async ({ ports, prng, witness }: Start): Promise<void> => {
    const key = rowKeys[prng.below(rowKeys.length)] ?? "row-a";
    /** The event of the latest try; those of earlier tries were rolled back. */
    let latest: string | undefined;
    try {
      await ports.store.transact(`sim.${name}`, async (unit) => {
        if (latest !== undefined) witness.withdraw(latest);
        latest = undefined;
        await unit.instances.renew(key, ports.clock.now());
        const n = (counters.get(key) ?? 0) + 1;
        counters.set(key, n);
        latest = await unit.events.publish(rowChanged, { key, n });
        await ports.timers.sleep(prng.below(3));
      });
      if (latest !== undefined) witness.acknowledge(latest);
    } catch (thrown) {
      if (!(thrown instanceof Fault)) throw thrown;
      const committed = thrown.code === "STORE_COMMIT_UNKNOWN" && (await wasCommitted(ports.store, thrown));
      if (latest === undefined) return;
      if (committed) witness.acknowledge(latest);
      else witness.withdraw(latest);
    }
  };
  return {
    name,
    async start(start) {
      while (!start.isStopping()) {
        await start.ports.timers.sleep(start.prng.below(30));
        await change(start);
      }
    },
  };
}

async function wasCommitted(store: Store, unknown: Fault): Promise<boolean> {
  return (await store.outcomeOf(String(unknown.facts["transaction"]))) === "committed";
}

export interface SubscriberOptions {
  readonly name: string;
  readonly subscription: string;
  /** The canary: acts without looking whether it has acted before. */
  readonly forgetsToDeduplicate: boolean;
}

export function subscriber(options: SubscriberOptions): SimService {
  const subscription = { name: options.subscription, subjects: [rowChanged.name], acts: true };
  const act = async (start: Start, event: BusEvent): Promise<void> => {
    const { key, n } = event.payload as SimPayload;
    await start.ports.store.transact(`sim.${options.subscription}`, async (unit) => {
      const first = await unit.handled.firstTime(options.subscription, event.id);
      if (!first && !options.forgetsToDeduplicate) return;
      await start.ports.timers.sleep(start.prng.below(3));
      await unit.events.publish(effectMade, { key, n, subscription: options.subscription, eventId: event.id });
    });
  };
  return {
    name: options.name,
    subscription,
    async start(start) {
      await start.ports.bus.subscribe(subscription, (event) =>
        observed(start, subscription.name, event, async () => {
          if (!start.isStopping() && start.prng.chance(0.05)) throw new Error("planned: the handler fails at once");
          await act(start, event);
        }),
      );
    },
  };
}

/** Hears everything and does nothing: shows that delivery itself is complete, also of what has no effect. */
export function auditor(name: string): SimService {
  const subscription = { name: "sim.auditor", subjects: ["sim.v1.>"], acts: false };
  return {
    name,
    subscription,
    async start(start) {
      await start.ports.bus.subscribe(subscription, (event) =>
        observed(start, subscription.name, event, () => start.ports.timers.sleep(start.prng.below(2))),
      );
    },
  };
}

async function observed(start: Start, subscription: string, event: BusEvent, work: () => Promise<void>): Promise<void> {
  start.witness.begin(subscription, start.incarnation);
  start.witness.deliver(subscription, event.id, event.payload);
  try {
    await work();
  } finally {
    start.witness.end(subscription, start.incarnation);
  }
}

// Puts the NATS bus together from its parts: its link, the database's session for leadership and parking, and, in the process that keeps
// the house, the relay that publishes the outbox.
import { everySubject, subjectByName, subjects } from "../../contracts/src/subjects.ts";
import type { Bus } from "../../ports/bus.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { Metrics } from "../../ports/metrics.ts";
import type { Random } from "../../ports/random.ts";
import type { Timers } from "../../ports/timers.ts";
import type { OpenConnection } from "../postgres/bus-connection.ts";
import { createBusSession } from "../postgres/bus-session.ts";
import type { PostgresStore } from "../postgres/store.ts";
import { createParking } from "../postgres/subscription-parking.ts";
import type { Wake } from "../postgres/wake.ts";
import { createNatsBus } from "./bus.ts";
import { connectNats } from "./connect.ts";
import { createLocks, parkOnPostgres, relayOnPostgres } from "./on-postgres.ts";
import { type Relay, startRelay } from "./relay.ts";

export interface NatsTransportOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly source: string;
  /** Whether this process relays the outbox. */
  readonly housekeeping: boolean;
  readonly configuration: {
    readonly bus: { readonly retention_s: number; readonly compression: "none" | "s2" };
  };
}

export interface OnPostgres {
  readonly open: OpenConnection;
  readonly store: PostgresStore;
  readonly wake: Wake;
}

export async function openNatsTransport(
  options: NatsTransportOptions,
  url: string,
  base: OnPostgres,
  endings: (() => Promise<void>)[],
): Promise<Bus> {
  const { log, source } = options;
  const session = createBusSession({ ...options, open: base.open, holder: source });
  endings.push(() => session.close());
  const locks = createLocks({ ...options, open: base.open });
  endings.push(() => locks.close());
  const park = parkOnPostgres(createParking({ ...options, store: base.store, parkedSubject: subjects.busParked }));
  const { compression, retention_s } = options.configuration.bus;
  const stream = { subjects: [everySubject], compression };
  const link = () => connectNats({ url, name: `portcullis ${source}`, log });
  let relay: Relay | undefined;
  const bus = await createNatsBus({
    ...options,
    link: await link(),
    stream,
    lookup: subjectByName,
    lead: locks.lead,
    park,
    head: () => session.end(),
  });
  endings.push(() => bus.close());
  if (options.housekeeping) {
    const lead = relayOnPostgres({ ...options, session, patterns: [everySubject] });
    const keepMs = retention_s * 1_000;
    relay = startRelay({ ...options, link: await link(), stream, lead, park, keepMs, onPoke: base.wake.onPoke });
    const started = relay;
    endings.push(() => started.close());
  }
  return { ...bus, health: () => worseOf(bus, relay) };
}

function worseOf(bus: Bus, relay: Relay | undefined) {
  const own = bus.health();
  return own.connected && own.complaint === undefined && relay !== undefined ? relay.health() : own;
}

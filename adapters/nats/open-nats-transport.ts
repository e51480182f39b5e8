// Puts the NATS bus together from its parts: its link, the database's session for leadership and parking, and, in the process that keeps
// the house, the relay that publishes the outbox.
import type { Instant } from "../../contracts/src/instant.ts";
import { everySubject, subjectByName, subjects } from "../../contracts/src/subjects.ts";
import type { Bus, BusHealth } from "../../ports/bus.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { Metrics } from "../../ports/metrics.ts";
import type { Random } from "../../ports/random.ts";
import type { Timers } from "../../ports/timers.ts";
import type { Alarms } from "../postgres/alarms.ts";
import type { OpenConnection } from "../postgres/bus/bus-connection.ts";
import { type BusSession, createBusSession } from "../postgres/bus/bus-session.ts";
import { proveOnPostgres } from "../postgres/bus/outbox-proof.ts";
import { createParking } from "../postgres/bus/subscription-parking.ts";
import type { Wake } from "../postgres/bus/wake.ts";
import type { PostgresStore } from "../postgres/store.ts";
import { createNatsBus } from "./bus.ts";
import { connectNats, type NatsLink } from "./connect.ts";
import { createGuard } from "./guard.ts";
import { loginNameOf, loginPath } from "./login.ts";
import { createLogins } from "./logins/logins.ts";
import {
  createLocks,
  type Locks,
  pairedOnPostgres,
  parkOnPostgres,
  relayedOnPostgres,
  relayOnPostgres,
} from "./on-postgres.ts";
import { type Relay, startRelay } from "./relay.ts";
import { inboxPrefix } from "./server-configuration.ts";
import { streamName } from "./stream.ts";
import { oldestStored } from "./trim.ts";

export interface NatsTransportOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly source: string;
  /** The services that run here: the login is one of theirs. */
  readonly services: readonly string[];
  /** Whether this process relays the outbox. */
  readonly housekeeping: boolean;
  readonly configuration: {
    readonly mode: "production" | "development";
    readonly bus: {
      readonly retention_s: number;
      readonly compression: "none" | "s2";
      readonly creds_file?: string | undefined;
      readonly creds_dir?: string | undefined;
      readonly tls_ca_file?: string | undefined;
      readonly replicas: number;
      readonly bytes_max: number;
    };
  };
}

export interface NatsTransport {
  readonly bus: Bus;
  /** When the oldest message that NATS can still hand over was stored; undefined when nobody can say. */
  historyFloor(): Promise<Instant | undefined>;
}

export interface OnPostgres {
  readonly open: OpenConnection;
  readonly store: PostgresStore;
  readonly wake: Wake;
  readonly alarms: Alarms;
}

export async function openNatsTransport(
  options: NatsTransportOptions,
  url: string,
  base: OnPostgres,
  endings: (() => Promise<void>)[],
): Promise<NatsTransport> {
  const { log, source } = options;
  const session = createBusSession({ ...options, open: base.open, holder: source });
  endings.push(() => session.close());
  const locks = createLocks({ ...options, open: base.open });
  endings.push(() => locks.close());
  const parking = createParking({ ...options, store: base.store, parkedSubject: subjects.busParked });
  const park = parkOnPostgres(parking, options.clock);
  const { compression, retention_s, creds_file, creds_dir, tls_ca_file, replicas, bytes_max } =
    options.configuration.bus;
  const login = loginNameOf(options.services);
  const stream = { subjects: [everySubject], compression, replicas, bytesMax: bytes_max };
  /** Ends with the transport whatever becomes of what is built on it: left alone it would reconnect for ever. */
  const connecting = {
    url,
    name: `portcullis ${source}`,
    inboxPrefix: inboxPrefix(login),
    log,
    credsFile: creds_dir === undefined ? creds_file : loginPath(creds_dir, login),
    tlsCaFile: tls_ca_file,
  };
  const openLink = async (): Promise<NatsLink> => {
    const link = await connectNats(connecting);
    endings.push(() => link.close());
    return link;
  };
  let relay: Relay | undefined;
  const link = await openLink();
  const production = options.configuration.mode === "production";
  const guard = await createGuard({ link, connecting, login, production, log });
  const logins = createLogins({ clock: options.clock, read: () => pairedOnPostgres(session, options.clock.now()) });
  const bus = await createNatsBus({
    ...options,
    link,
    guard,
    stream,
    lookup: subjectByName,
    lead: locks.lead,
    parking,
    prove: proveOnPostgres(session.run),
    logins,
    alarms: base.alarms,
    head: () => headOf(session, options.timers),
    relayed: () => relayedOnPostgres(session),
  });
  endings.push(() => bus.close());
  if (options.housekeeping) {
    const lead = relayOnPostgres({ ...options, session, patterns: [everySubject] });
    const keepMs = retention_s * 1_000;
    relay = startRelay({ ...options, link: await openLink(), stream, lead, park, keepMs, onPoke: base.wake.onPoke });
    const started = relay;
    endings.push(() => started.close());
  }
  return {
    bus: {
      ...bus,
      health() {
        const own = worstOf([bus.health(), relay?.health(), { connected: true, ...complaintOf(locks) }]);
        // What is wrong with the transport itself comes first.
        const { note, ...found } = own;
        return { ...withNotes(guard.health(), [logins.note(), note]), ...found };
      },
    },
    historyFloor: () => oldestStored(link, streamName(stream), options.clock),
  };
}

const openMsMax = 10_000;

/** Right after the start the session may still be opening; a listener waits for it as a subscription does. */
async function headOf(session: BusSession, timers: Timers): Promise<bigint> {
  const patience = new AbortController();
  const cancel = timers.after(openMsMax, () => patience.abort());
  await session.opened(patience.signal);
  cancel();
  return session.end();
}

function withNotes(
  health: Pick<BusHealth, "complaint" | "note">,
  more: readonly (string | undefined)[],
): Pick<BusHealth, "complaint" | "note"> {
  const notes = [health.note, ...more].flatMap((note) => note ?? []);
  return notes.length === 0 ? health : { ...health, note: notes.join(" ") };
}

function complaintOf(locks: Locks): { complaint?: string } {
  const complaint = locks.complaint();
  return complaint === undefined ? {} : { complaint };
}

/** The first that is not well, and the first of all when everything is. */
function worstOf(all: readonly [BusHealth, ...(BusHealth | undefined)[]]): BusHealth {
  return all.find((each) => each !== undefined && (!each.connected || each.complaint !== undefined)) ?? all[0];
}

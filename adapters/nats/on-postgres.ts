// What the NATS transport needs of the database: who leads under a name, the outbox for the relay, the place for parked
// events. Leadership is an advisory lock of one session per process: the database frees it when the session dies.
// Subscriptions on NATS have no row in the `subscription` table (their cursor lies in the stream); only the relay has one, so
// the outbox is trimmed behind the relay.
import type pg from "pg";
import { Fault } from "../../contracts/src/fault.ts";
import { fromMicroseconds, type Instant } from "../../contracts/src/instant.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { Random } from "../../ports/random.ts";
import type { Timers } from "../../ports/timers.ts";
import { keepConnection, type OpenConnection } from "../postgres/bus/bus-connection.ts";
import type { BusSession } from "../postgres/bus/bus-session.ts";
import { createOutboxReader } from "../postgres/bus/outbox-reader.ts";
import { messagesOf } from "../postgres/risk/decision-rows.ts";
import type { AsideStore } from "../transport/put-aside.ts";
import type { Lead, Leadership } from "./lead.ts";
import type { PairedLogins } from "./logins/logins.ts";
import { asideOf, type Park } from "./park.ts";
import { type LeadRelay, relayName } from "./relay.ts";

/** Any constant: it keeps these locks apart from those of the PostgreSQL transport under the same names. */
const lockSeed = 3_901_557_268;
/** How long a process that stands by may take to notice that it may lead. */
const standByMs = 100;

export interface Locks {
  readonly lead: Lead;
  complaint(): string | undefined;
  close(): Promise<void>;
}

export function createLocks(options: {
  readonly open: OpenConnection;
  readonly timers: Timers;
  readonly random: Random;
  readonly log: Log;
}): Locks {
  /** Who leads here; a session may take its own lock again and again, so this keeps two of one process apart. */
  const held = new Map<string, AbortController>();
  /** One statement at a time: the driver wants it so. */
  let last: Promise<unknown> = Promise.resolve();
  const connection = keepConnection({
    ...options,
    title: "the session of the NATS transport's locks",
    prepare: async (client) => {
      loseAll(held);
      client.once("end", () => loseAll(held));
      client.once("error", () => loseAll(held));
    },
  });

  function inTurn<T>(run: () => Promise<T>): Promise<T> {
    const turn = last.then(run, run);
    last = turn;
    return turn;
  }

  async function tryLead(name: string): Promise<Leadership | undefined> {
    const client = connection.current();
    if (client === undefined || held.has(name)) return undefined;
    const lost = new AbortController();
    held.set(name, lost);
    const taken = await inTurn(() => lock(client, name)).catch((thrown: unknown) => {
      release(held, name, lost);
      throw thrown;
    });
    if (!taken || lost.signal.aborted) {
      release(held, name, lost);
      return undefined;
    }
    return {
      lost: lost.signal,
      async release() {
        if (held.get(name) !== lost || client !== connection.current()) return;
        await inTurn(() => client.query("select pg_advisory_unlock(hashtextextended($1, $2))", [name, lockSeed]));
        release(held, name, lost);
      },
    };
  }

  return {
    lead: (name, signal) => untilTaken(() => tryLead(name), options.timers, signal),
    complaint: () => connection.complaint(),
    async close() {
      await connection.close();
      loseAll(held);
    },
  };
}

async function lock(client: pg.Client, name: string): Promise<boolean> {
  const text = "select pg_try_advisory_lock(hashtextextended($1, $2)) as taken";
  const { rows } = await client.query<{ taken: boolean }>(text, [name, lockSeed]);
  return rows[0]?.taken === true;
}

function release(held: Map<string, AbortController>, name: string, own: AbortController): void {
  if (held.get(name) === own) held.delete(name);
}

function loseAll(held: Map<string, AbortController>): void {
  for (const lost of held.values()) lost.abort();
  held.clear();
}

async function untilTaken<T>(take: () => Promise<T | undefined>, timers: Timers, signal: AbortSignal): Promise<T> {
  for (;;) {
    if (signal.aborted) throw new Fault("CANCELLED", "Stopped while standing by.", { retry: "never" });
    const taken = await take();
    if (taken !== undefined) return taken;
    await timers.sleep(standByMs, signal);
  }
}

/** The relay's leadership: the session of the PostgreSQL transport locks, reads the outbox and moves the cursor. */
export function relayOnPostgres(options: {
  readonly session: BusSession;
  /** What the relay carries: every subject. */
  readonly patterns: readonly string[];
  readonly clock: Clock;
  readonly timers: Timers;
}): LeadRelay {
  const { session, patterns, clock, timers } = options;
  return async (signal) => {
    const taken = await untilTaken(() => session.lead(relayName, patterns, clock.now()), timers, signal);
    const lost = new AbortController();
    const reader = createOutboxReader({ run: taken.run, clock });
    /** The session tells its loss by refusing; whoever notices first ends the leadership. */
    async function noticing<T>(work: Promise<T>): Promise<T> {
      try {
        return await work;
      } finally {
        if (!taken.holds()) lost.abort();
      }
    }
    return {
      lost: lost.signal,
      cursor: taken.cursor,
      async read(after, limit) {
        const page = await noticing(reader.read(after, limit, patterns));
        return { ...page, rows: page.rows.flatMap((row) => messagesOf(row, patterns)) };
      },
      async floor() {
        const floorText = "select trimmed_id::text from outbox_floor";
        const found = await noticing(taken.run({ text: floorText, rowMode: "array" }));
        return BigInt(String(found.rows[0]?.[0]));
      },
      saveCursor: async (position) => void (await noticing(taken.moveCursor(position, clock.now()))),
      release: () => taken.resign(),
    };
  };
}

/** How far the relay, wherever it runs, has carried the outbox; before there was one, nothing. */
export async function relayedOnPostgres({ run }: Pick<BusSession, "run">): Promise<bigint> {
  const text = "select cursor_id::text from subscription where name = $1";
  const found = await run({ text, values: [relayName], rowMode: "array" });
  return BigInt(String(found.rows[0]?.[0] ?? -1));
}

/**
 * For whom the logins of programs outside speak: the newest token that names one says so, also when it has ended. It is revoked unless another one of its name works
 * still, as during a rotation.
 */
export async function pairedOnPostgres({ run }: Pick<BusSession, "run">, now: Instant): Promise<PairedLogins> {
  const text = `select distinct on (login) login, name, funds, revoked_us,
                  exists (select from service_token other where other.name = named.name and other.revoked_us is null
                          and other.nats_logins @> array[login] and other.expires_us > $1)
                from service_token named cross join unnest(nats_logins) login
                order by login, created_us desc, id`;
  const found = await run({ text, values: [now], rowMode: "array" });
  return new Map(
    found.rows.map(([login, name, funds, revokedUs, isReplaced]) => {
      const of = Array.isArray(funds) ? { funds: funds.map(String) } : {};
      const isRevoked = revokedUs !== null && isReplaced !== true;
      const end = isRevoked ? { revokedAt: fromMicroseconds(Number(revokedUs)) } : {};
      return [String(login), { source: String(name), ...of, ...end }];
    }),
  );
}

/** What the relay parks; subscriptions put aside by themselves. */
export function parkOnPostgres(parking: AsideStore, clock: Clock): Park {
  return async (parked) => {
    const now = clock.now();
    await parking.put({ ...asideOf(parked), error: parked.error.replaceAll("\0", ""), now, firstTriedAt: now });
  };
}

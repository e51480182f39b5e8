// The session of one process on the bus: it holds the leadership of durable subscriptions (advisory locks live and die
// with a session), reads the outbox for them and moves their cursors.
//
// Invariants:
//  1. A cursor is moved only by the session that holds the lock of its name: a leader that lost its session has lost its
//     means of moving it, so one that was fenced out can neither move it forward nor back.
//  2. A cursor never goes back.
//  3. A name that was forgotten and entered again is another entry: who ran under the old one can neither lead nor move it.
// Its commits do not wait for the disk: a cursor that a crash of the server throws back means events handed over again,
// which every handler must bear anyway, and trimming (which does wait) can never be durable before the cursor it followed.
import type pg from "pg";
import { Fault } from "../../../contracts/src/fault.ts";
import type { Instant } from "../../../contracts/src/instant.ts";
import { newestIdText } from "../risk/decision-rows.ts";
import { type KeptConnectionOptions, keepConnection, type Opening } from "./bus-connection.ts";
import { type RunStatement, readerSettings } from "./outbox-reader.ts";

/** The leadership of one durable name, for as long as its session lives. */
export interface Leadership {
  /** The cursor at the moment of taking the lead. */
  readonly cursor: bigint;
  /** False once the session is gone: stop handing over. */
  holds(): boolean;
  readonly run: RunStatement;
  /** False when the subscription has been forgotten. */
  moveCursor(through: bigint, at: Instant): Promise<boolean>;
  /** Lets somebody else lead. */
  resign(): Promise<void>;
}

export interface BusSession {
  /** Enters the name if it is new, beginning after what trimming has removed; gives the number of its entry. */
  register(name: string, patterns: readonly string[], at: Instant): Promise<bigint>;
  forget(name: string): Promise<void>;
  /**
   * The leadership, or undefined when another process (or another subscription of this one) has it. Without an entry the
   * name is entered if it is not there; one that is not there any more is a NOT_FOUND.
   */
  lead(name: string, patterns: readonly string[], at: Instant, entry?: bigint): Promise<Leadership | undefined>;
  /** The newest event's number. */
  end(): Promise<bigint>;
  /** One statement on the session as it is now; a Fault when there is none. */
  readonly run: RunStatement;
  opened(signal: AbortSignal): Promise<Opening>;
  complaint(): string | undefined;
  close(): Promise<void>;
}

/** Any constant: it keeps our lock numbers apart from those of other users of advisory locks. */
const lockSeed = 7_465_236_114;

const registerText = `
insert into subscription (name, cursor_id, patterns, updated_us)
values ($1, (select trimmed_id from outbox_floor), $2, $3) on conflict (name) do nothing`;
const entryText = "select entry::text from subscription where name = $1";
const leadText = `
update subscription set patterns = $2, holder = $4, updated_us = $3 where name = $1 and entry = $5
returning cursor_id::text`;
const moveText = `
update subscription set cursor_id = $2, updated_us = $3 where name = $1 and entry = $4 and cursor_id <= $2`;
const unlockText = "select pg_advisory_unlock(hashtextextended($1, $2))";
/** Entered and forgotten between two statements, this often in a row: somebody else is at work on the name. */
const enterTriesMax = 5;

function forgotten(name: string): Fault {
  return new Fault("NOT_FOUND", `the subscription ${name} has been forgotten`, { retry: "never" });
}

/** Two statements, because the first does not see what somebody else entered at the same moment. */
async function enter(on: RunStatement, name: string, patterns: readonly string[], at: Instant): Promise<bigint> {
  for (let tries = 1; tries <= enterTriesMax; tries += 1) {
    await on({ text: registerText, values: [name, patterns, at] });
    const found = await on({ text: entryText, values: [name], rowMode: "array" });
    if (found.rows.length === 1) return BigInt(String(found.rows[0]?.[0]));
  }
  throw forgotten(name);
}

export function createBusSession(
  options: Omit<KeptConnectionOptions, "title" | "prepare"> & { readonly holder: string },
): BusSession {
  const leading = new Set<string>();
  const connection = keepConnection({
    ...options,
    title: "the bus's session",
    prepare: async (client) => {
      leading.clear();
      await client.query(`set synchronous_commit = off; ${readerSettings}`);
    },
  });

  async function runOn(client: pg.Client | undefined, statement: pg.QueryConfig | pg.QueryArrayConfig) {
    if (client === undefined || client !== connection.current()) {
      throw new Fault("BUS_UNAVAILABLE", connection.complaint() ?? "the bus's session is gone", { retry: "later" });
    }
    return client.query(statement as pg.QueryArrayConfig);
  }

  const run: RunStatement = (statement) => runOn(connection.current(), statement);

  function leadershipOf(client: pg.Client, name: string, entry: bigint, cursor: bigint): Leadership {
    const on: RunStatement = (statement) => runOn(client, statement);
    return {
      cursor,
      holds: () => client === connection.current(),
      run: on,
      async moveCursor(through, now) {
        const values = [name, String(through), now, String(entry)];
        return (await on({ name: "cursor_move", text: moveText, values })).rowCount === 1;
      },
      async resign() {
        if (client !== connection.current()) return;
        leading.delete(name);
        await on({ text: unlockText, values: [name, lockSeed] });
      },
    };
  }

  async function take(client: pg.Client, name: string, patterns: readonly string[], at: Instant, known?: bigint) {
    const on: RunStatement = (statement) => runOn(client, statement);
    const lock = "select pg_try_advisory_lock(hashtextextended($1, $2))";
    const locked = await on({ text: lock, values: [name, lockSeed], rowMode: "array" });
    if (locked.rows[0]?.[0] !== true) return undefined;
    try {
      const entry = known ?? (await enter(on, name, patterns, at));
      const values = [name, patterns, at, options.holder, String(entry)];
      const led = await on({ text: leadText, values, rowMode: "array" });
      if (led.rows.length !== 1) throw forgotten(name);
      return leadershipOf(client, name, entry, BigInt(String(led.rows[0]?.[0])));
    } catch (thrown) {
      // The lock would stay with the session, and be counted once more by every later try.
      if (client === connection.current()) await on({ text: unlockText, values: [name, lockSeed] });
      throw thrown;
    }
  }

  return {
    run,
    register: (name, patterns, at) => enter(run, name, patterns, at),
    async forget(name) {
      await run({ text: "delete from subscription where name = $1", values: [name] });
    },
    async lead(name, patterns, at, entry) {
      const client = connection.current();
      // A session may take its own lock again and again, so who leads within this process is kept here.
      if (client === undefined || leading.has(name)) return undefined;
      leading.add(name);
      let taken: Leadership | undefined;
      try {
        taken = await take(client, name, patterns, at, entry);
      } finally {
        if (taken === undefined && client === connection.current()) leading.delete(name);
      }
      return taken;
    },
    async end() {
      const text = `select greatest(${newestIdText}, (select trimmed_id from outbox_floor))::text`;
      return BigInt(String((await run({ text, rowMode: "array" })).rows[0]?.[0]));
    },
    opened: (signal) => connection.opened(signal),
    complaint: () => connection.complaint(),
    close: () => connection.close(),
  };
}

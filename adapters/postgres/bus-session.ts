// The session of one process on the bus: it holds the leadership of durable subscriptions (advisory locks live and die
// with a session), reads the outbox for them and moves their cursors.
//
// Invariants:
//  1. A cursor is moved only by the session that holds the lock of its name: a leader that lost its session has lost its
//     means of moving it, so one that was fenced out can neither move it forward nor back.
//  2. A cursor never goes back.
// Its commits do not wait for the disk: a cursor that a crash of the server throws back means events handed over again,
// which every handler must bear anyway, and trimming (which does wait) can never be durable before the cursor it followed.
import type pg from "pg";
import { Fault } from "../../contracts/src/fault.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import { type KeptConnectionOptions, keepConnection } from "./bus-connection.ts";
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
  /** Enters the name if it is new, beginning after what trimming has removed. */
  register(name: string, patterns: readonly string[], at: Instant): Promise<void>;
  forget(name: string): Promise<void>;
  /** The leadership, or undefined when another process (or another subscription of this one) has it. */
  lead(name: string, patterns: readonly string[], at: Instant): Promise<Leadership | undefined>;
  /** The newest event's number. */
  end(): Promise<bigint>;
  /** One statement on the session as it is now; a Fault when there is none. */
  readonly run: RunStatement;
  opened(signal: AbortSignal): Promise<boolean>;
  complaint(): string | undefined;
  close(): Promise<void>;
}

/** Any constant: it keeps our lock numbers apart from those of other users of advisory locks. */
const lockSeed = 7_465_236_114;

const registerText = `
insert into subscription (name, cursor_id, patterns, updated_us)
values ($1, (select trimmed_id from outbox_floor), $2, $3) on conflict (name) do nothing`;
const leadText = `
update subscription set patterns = $2, holder = $4, updated_us = $3 where name = $1 returning cursor_id::text`;
const moveText = "update subscription set cursor_id = $2, updated_us = $3 where name = $1 and cursor_id <= $2";

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

  async function take(client: pg.Client, name: string, patterns: readonly string[], at: Instant) {
    const on: RunStatement = (statement) => runOn(client, statement);
    const values = [name, lockSeed];
    const lock = "pg_try_advisory_lock(hashtextextended($1, $2))";
    const locked = await on({ text: `select ${lock}`, values, rowMode: "array" });
    if (locked.rows[0]?.[0] !== true) return undefined;
    await on({ text: registerText, values: [name, patterns, at] });
    const led = await on({ text: leadText, values: [name, patterns, at, options.holder], rowMode: "array" });
    const leadership: Leadership = {
      cursor: BigInt(String(led.rows[0]?.[0])),
      holds: () => client === connection.current(),
      run: on,
      async moveCursor(through, now) {
        const moved = await on({ name: "cursor_move", text: moveText, values: [name, String(through), now] });
        return moved.rowCount === 1;
      },
      async resign() {
        if (client !== connection.current()) return;
        leading.delete(name);
        await on({ text: "select pg_advisory_unlock(hashtextextended($1, $2))", values });
      },
    };
    return leadership;
  }

  return {
    run,
    async register(name, patterns, at) {
      await run({ text: registerText, values: [name, patterns, at] });
    },
    async forget(name) {
      await run({ text: "delete from subscription where name = $1", values: [name] });
    },
    async lead(name, patterns, at) {
      const client = connection.current();
      // A session may take its own lock again and again, so who leads within this process is kept here.
      if (client === undefined || leading.has(name)) return undefined;
      leading.add(name);
      let taken: Leadership | undefined;
      try {
        taken = await take(client, name, patterns, at);
      } finally {
        if (taken === undefined && client === connection.current()) leading.delete(name);
      }
      return taken;
    },
    async end() {
      const text = "select greatest((select max(id) from outbox), (select trimmed_id from outbox_floor))::text";
      return BigInt(String((await run({ text, rowMode: "array" })).rows[0]?.[0]));
    },
    opened: async (signal) => (await connection.opened(signal)) !== undefined,
    complaint: () => connection.complaint(),
    close: () => connection.close(),
  };
}

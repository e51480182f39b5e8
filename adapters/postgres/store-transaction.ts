// One database transaction, begun by its first statement, so that work that never asks the database holds no connection.
//
// Invariants:
//  1. Isolation is REPEATABLE READ: a repository that reads a row and later writes it cannot lose a concurrent update even
//     if its author forgot the lock; the loser gets 40001 and the store runs the work again. Write skew is not excluded:
//     a rule over several rows locks them (`for update`). SERIALIZABLE would exclude it and also fail work that never
//     collided, because its locks on small tables cover whole pages.
//  2. The transaction's number is known to us before COMMIT is sent, so that the question after a lost answer can name it.
//  3. Events are inserted right before COMMIT: all row locks are held by then, so event numbers follow the order of the
//     transactions that touched the same row.
//  4. A transaction that wrote leaves a witness, its first event or a marker: after a crash the server may hand out a
//     number again, so a number alone proves nothing.
import type pg from "pg";
import { Defect, Fault } from "../../contracts/src/fault.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import { insertStatements, type OutboxEntry } from "./bus/outbox-insert.ts";
import { isDefinite, isDefiniteCommit, storeFault } from "./store-fault.ts";

/** Statements of a unit of work. `read` must not change anything: a transaction of reads alone leaves no witness. */
export interface Sql {
  read(statement: pg.QueryConfig): Promise<pg.QueryResult>;
  write(statement: pg.QueryConfig): Promise<pg.QueryResult>;
}

export interface StoreTransaction extends Sql {
  /** Resolves when every statement so far has its answer, also those that nobody awaited. */
  idle(): Promise<void>;
  begun(): boolean;
  /** The first fault of any statement: the transaction is lost from then on, whatever the work makes of it. */
  failure(): Fault | undefined;
  commit(entries: readonly OutboxEntry[]): Promise<void>;
  rollback(): Promise<void>;
}

interface TransactionOptions {
  readonly pool: pg.Pool;
  readonly name: string;
  readonly marker: () => { readonly id: string; readonly at: Instant };
}

const beginRead = "begin isolation level repeatable read";
const numberQuery = "select pg_current_xact_id()::text as xid";
const beginWrite = `${beginRead}; ${numberQuery}`;

export function openTransaction(options: TransactionOptions): StoreTransaction {
  const { pool, name } = options;
  let client: pg.PoolClient | undefined;
  let xid: string | undefined;
  let failed: Fault | undefined;
  let ended = false;
  // Statements go one after the other, whoever asks at the same time.
  let last: Promise<unknown> = Promise.resolve();

  function inTurn<T>(run: () => Promise<T>): Promise<T> {
    const turn = last.then(async () => {
      if (ended) throw new Defect(`${name}: a statement came after the end of its transaction`);
      if (failed !== undefined) throw failed;
      try {
        return await run();
      } catch (thrown) {
        failed = storeFault(thrown, name);
        throw failed;
      }
    });
    last = turn.catch(() => undefined);
    return turn;
  }

  async function writable(): Promise<pg.PoolClient> {
    if (client === undefined) {
      client = await pool.connect();
      const answers = (await client.query(beginWrite)) as unknown as readonly pg.QueryResult[];
      xid = answers[1]?.rows[0]?.xid;
    } else if (xid === undefined) {
      xid = (await client.query(numberQuery)).rows[0]?.xid;
    }
    return client;
  }

  async function readable(): Promise<pg.PoolClient> {
    if (client === undefined) {
      client = await pool.connect();
      await client.query(beginRead);
    }
    return client;
  }

  function release(thrown?: unknown): void {
    ended = true;
    // A connection in an unknown state is not given to the next one.
    client?.release(thrown !== undefined);
    client = undefined;
  }

  async function finish(entries: readonly OutboxEntry[]): Promise<void> {
    const session = entries.length > 0 ? await writable() : client;
    if (session === undefined) return;
    const statements = [...insertStatements(entries)];
    let witness = entries[0]?.eventId;
    if (xid !== undefined && witness === undefined) {
      const marker = options.marker();
      witness = marker.id;
      statements.push({
        name: "commit_marker",
        text: "insert into commit_marker (id, at_us) values ($1, $2)",
        values: [marker.id, marker.at],
      });
    }
    await commitWith(session, statements, {
      name,
      transaction: `${xid ?? ""}/${witness ?? ""}`,
      wrote: xid !== undefined,
    });
  }

  async function idle(): Promise<void> {
    let seen: Promise<unknown>;
    do {
      seen = last;
      await seen;
    } while (seen !== last);
  }

  return {
    idle,
    begun: () => client !== undefined,
    failure: () => failed,
    read: (statement) => inTurn(async () => (await readable()).query(statement)),
    write: (statement) => inTurn(async () => (await writable()).query(statement)),
    async commit(entries): Promise<void> {
      await inTurn(() => finish(entries)).then(
        () => release(),
        (thrown: unknown) => {
          release(thrown);
          throw thrown;
        },
      );
    },
    async rollback(): Promise<void> {
      await idle();
      const session = client;
      if (session === undefined) return release();
      // Whether the answer comes or not, nothing remains: a closed connection rolls back as well.
      await session.query("rollback").then(
        () => release(),
        (thrown: unknown) => release(thrown),
      );
    },
  };
}

interface CommitFacts {
  readonly name: string;
  /** What `outcomeOf` is asked with. */
  readonly transaction: string;
  readonly wrote: boolean;
}

/** Sends the last statements and COMMIT in one go and says what became of them. */
export async function commitWith(
  session: pg.PoolClient,
  statements: readonly pg.QueryConfig[],
  facts: CommitFacts,
): Promise<void> {
  const inserts = statements.map((statement) => session.query(statement));
  const commit = session.query("commit");
  const [committed, ...inserted] = await Promise.allSettled([commit, ...inserts]);
  const refused = inserted.find((one) => one.status === "rejected" && isDefinite(one.reason));
  if (refused?.status === "rejected") throw refused.reason;
  if (committed.status === "fulfilled") {
    if (committed.value.command === "COMMIT") return;
    throw new Fault("STORE_CONFLICT", `${facts.name} was rolled back at its commit`, { retry: "now" });
  }
  if (isDefiniteCommit(committed.reason) || !facts.wrote) throw committed.reason;
  throw new Fault("STORE_COMMIT_UNKNOWN", `the answer to the commit of ${facts.name} was lost`, {
    retry: "never",
    facts: { transaction: facts.transaction },
  });
}

// The fast way for transactions that do nothing but publish: those that come while one commit is under way share the next
// one. Each is still whole or nothing and durable before its caller hears of it; they touched no common rows, so there is
// no order among them to keep beyond the order in which they came.
import type pg from "pg";
import { Fault } from "../../contracts/src/fault.ts";
import { insertRowsMax, insertStatements, type OutboxEntry } from "./outbox-insert.ts";
import { isDefinite, storeFault } from "./store-fault.ts";
import { commitWith } from "./store-transaction.ts";

export interface OutboxLane {
  /** Resolves when these events are durable; rejects as the transaction of a store does. */
  append(entries: readonly OutboxEntry[]): Promise<void>;
}

interface Waiting {
  readonly entries: readonly OutboxEntry[];
  resolve(): void;
  reject(reason: unknown): void;
}

/** Transactions that may wait for the next commit; beyond that the store is too slow and says so instead of filling the memory. */
export const waitingMax = 10_000;

const begin = "begin isolation level read committed; select pg_current_xact_id()::text as xid";

export function createOutboxLane(pool: pg.Pool): OutboxLane {
  let queue: Waiting[] = [];
  let running = false;

  async function drain(): Promise<void> {
    running = true;
    while (queue.length > 0) {
      const group = takeGroup();
      await commitGroup(group);
    }
    running = false;
  }

  function takeGroup(): Waiting[] {
    let rows = 0;
    let count = 0;
    for (const one of queue) {
      rows += one.entries.length;
      if (count > 0 && rows > insertRowsMax) break;
      count += 1;
    }
    const group = queue.slice(0, count);
    queue = queue.slice(count);
    return group;
  }

  async function commitGroup(group: readonly Waiting[]): Promise<void> {
    try {
      await commitEntries(
        pool,
        group.flatMap((one) => one.entries),
      );
      for (const one of group) one.resolve();
    } catch (thrown) {
      const fault = storeFault(thrown, "publishing events");
      // What the server refused may be one event's fault: the others must not suffer for it.
      if (group.length > 1 && isDefinite(thrown)) for (const one of group) await commitGroup([one]);
      else for (const one of group) one.reject(fault);
    }
  }

  return {
    append(entries) {
      if (queue.length >= waitingMax) {
        const sentence = `${waitingMax} transactions already wait for the store to commit`;
        return Promise.reject(new Fault("RESOURCE_EXHAUSTED", sentence, { retry: "later" }));
      }
      return new Promise<void>((resolve, reject) => {
        queue.push({ entries, resolve, reject });
        // drain() itself never rejects: every failure goes to the callers of its group.
        if (!running) void drain();
      });
    },
  };
}

async function commitEntries(pool: pg.Pool, entries: readonly OutboxEntry[]): Promise<void> {
  const client = await pool.connect();
  try {
    const answers = (await client.query(begin)) as unknown as readonly pg.QueryResult[];
    const transaction = `${answers[1]?.rows[0]?.xid}/${entries[0]?.eventId}`;
    await commitWith(client, insertStatements(entries), { name: "publishing events", transaction, wrote: true });
    client.release();
  } catch (thrown) {
    client.release(!(thrown instanceof Fault) || thrown.code === "STORE_COMMIT_UNKNOWN");
    throw thrown;
  }
}

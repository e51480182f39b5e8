// The fast way for transactions that do nothing but publish: those that come while one commit is under way share the next
// one. Each is still whole or nothing and durable before its caller hears of it; they touched no common rows, so there is
// no order among them to keep beyond the order in which they came.
import type pg from "pg";
import { Fault } from "../../../contracts/src/fault.ts";
import { isDefinite, storeFault } from "../store-fault.ts";
import { commitWith } from "../store-transaction.ts";
import { insertBytesMax, insertRowsMax, insertStatements, type OutboxEntry } from "./outbox-insert.ts";

interface OutboxLane {
  /** Resolves when these events are durable; rejects as the transaction of a store does. */
  append(entries: readonly OutboxEntry[]): Promise<void>;
}

interface Waiting {
  readonly entries: readonly OutboxEntry[];
  readonly bytes: number;
  resolve(): void;
  reject(reason: unknown): void;
}

/** Transactions that may wait for the next commit; beyond that the store is too slow and says so instead of filling the memory. */
export const waitingMax = 10_000;
/** The same bound in bytes of payload. */
export const waitingBytesMax = 64_000_000;

const begin = "begin isolation level read committed; select pg_current_xact_id()::text as xid";

export function createOutboxLane(pool: pg.Pool): OutboxLane {
  let queue: Waiting[] = [];
  let queuedBytes = 0;
  let running = false;

  async function drain(): Promise<void> {
    running = true;
    while (queue.length > 0) await commitGroup(takeGroup);
    running = false;
  }

  function takeGroup(): Waiting[] {
    let rows = 0;
    let bytes = 0;
    let count = 0;
    for (const one of queue) {
      rows += one.entries.length;
      if (count > 0 && (rows > insertRowsMax || bytes + one.bytes > insertBytesMax)) break;
      bytes += one.bytes;
      count += 1;
    }
    queuedBytes -= bytes;
    const group = queue.slice(0, count);
    queue = queue.slice(count);
    return group;
  }

  /**
   * The group is taken only once its transaction has begun. Writers that heard of the last commit are back in the queue by
   * then; taken earlier, the group would always miss half of them.
   */
  async function commitGroup(take: () => readonly Waiting[]): Promise<void> {
    let group: readonly Waiting[] | undefined;
    try {
      await commitEntries(pool, () => {
        group = take();
        return group.flatMap((one) => one.entries);
      });
      for (const one of group ?? []) one.resolve();
    } catch (thrown) {
      group ??= take();
      const fault = storeFault(thrown, "publishing events");
      // What the server refused may be one event's fault: the others must not suffer for it.
      if (group.length > 1 && isDefinite(thrown)) for (const one of group) await commitGroup(() => [one]);
      else for (const one of group) one.reject(fault);
    }
  }

  return {
    append(entries) {
      const bytes = entries.reduce((sum, entry) => sum + entry.payload.length, 0);
      if (queue.length >= waitingMax || (queue.length > 0 && queuedBytes + bytes > waitingBytesMax)) {
        const sentence = `${queue.length} transactions with ${queuedBytes} bytes already wait for the store to commit`;
        return Promise.reject(new Fault("RESOURCE_EXHAUSTED", sentence, { retry: "later" }));
      }
      return new Promise<void>((resolve, reject) => {
        queue.push({ entries, bytes, resolve, reject });
        queuedBytes += bytes;
        // drain() itself never rejects: every failure goes to the callers of its group.
        if (!running) void drain();
      });
    },
  };
}

async function commitEntries(pool: pg.Pool, take: () => readonly OutboxEntry[]): Promise<void> {
  const client = await pool.connect();
  try {
    const answers = (await client.query(begin)) as unknown as readonly pg.QueryResult[];
    const entries = take();
    const transaction = `${answers[1]?.rows[0]?.xid}/${entries[0]?.eventId}`;
    await commitWith(client, insertStatements(entries), { name: "publishing events", transaction, wrote: true });
    client.release();
  } catch (thrown) {
    client.release(!(thrown instanceof Fault) || thrown.code === "STORE_COMMIT_UNKNOWN");
    throw thrown;
  }
}

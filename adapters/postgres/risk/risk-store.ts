// The risk engine's store on PostgreSQL. Batches go over a connection of their own, so that no other statement ever stands before
// one, and halts are read over a reserved one; everything else goes through the pool.
//
// Invariants (tested by number):
//  1. A batch is one statement that is its own transaction: what was refused left nothing.
//  2. `outcomeOf` decides "not committed" only after the writer epoch has been moved. An append holds the writer epoch's row until it has ended, so
//     moving it waits for one under way, and one that is still in a cable finds its writer epoch out of force.
//  3. The witness is the batch's id in its first row. The store knows the newest number before the batch was sent, so it looks at
//     the rows after that and not at the whole journal.
import type pg from "pg";
import { Fault } from "../../../contracts/src/fault.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Log } from "../../../ports/log.ts";
import type { Metrics } from "../../../ports/metrics.ts";
import type { Random } from "../../../ports/random.ts";
import type { JournalBatch, RiskStore } from "../../../ports/risk-store.ts";
import type { Outcome } from "../../../ports/store.ts";
import type { Timers } from "../../../ports/timers.ts";
import { internalsOn, type LibraryInternals } from "../../library-internals/library-internals.ts";
import { keepConnection, type OpenConnection } from "../bus/bus-connection.ts";
import { type Wake, whenPublished } from "../bus/wake.ts";
import { storeFault } from "../store-fault.ts";
import { appendMessage } from "./append-message.ts";
import { appendFault, entryTypeText, riskAppend } from "./risk-append.ts";
import { type Ask, createRiskReads, tellingOfChanges } from "./risk-reads.ts";

interface PostgresRiskStoreOptions {
  /** Opens the connection for batches. */
  readonly open: OpenConnection;
  /** Connections of the app role. */
  readonly pool: pg.Pool;
  /** Halts are read over this, so that nobody who waits for the pool stands before them; absent: over the pool. */
  readonly reserved?: pg.Pool;
  /** Told after every append; tells of changes elsewhere. */
  readonly wake: Pick<Wake, "poke" | "onPoke">;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  /** How batches are sent; default with every reach behind the driver's interface. */
  readonly internals?: Pick<LibraryInternals, "sendCall">;
}

export interface PostgresRiskStore extends RiskStore {
  /** Why no batch can be appended at present; undefined when one can. */
  complaint(): string | undefined;
  close(): Promise<void>;
}

/** What is known of a batch whose answer was lost. */
interface LostBatch {
  readonly writerEpoch: number;
  /** The newest number before it was sent. */
  readonly after: bigint;
}

const openMsMax = 5_000;
const pokeMs = 20;
/** Batches with a lost answer that are remembered; the engine asks about each before it goes on. */
const lostMax = 100;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
// What the append relies on, whatever the server's own defaults are.
const sessionText =
  "set synchronous_commit = on; set default_transaction_isolation = 'read committed'; set plan_cache_mode = force_generic_plan; set jit = off";
const takeText = "select pen::text, newest::text from risk_take_pen($1, $2)";

export function createPostgresRiskStore(options: PostgresRiskStoreOptions): PostgresRiskStore {
  const { pool, wake, clock, timers } = options;
  const { sendCall } = options.internals ?? internalsOn;
  const prepare = async (client: pg.Client): Promise<void> => {
    await client.query(sessionText);
    entryType = Number((await client.query(entryTypeText)).rows[0]?.number);
  };
  let entryType = 0;
  const connection = keepConnection({ title: "the journal's connection", prepare, ...options });
  const appended = options.metrics.counter("portcullis_risk_appends_total", "Journal batches by their end.", ["end"]);
  const lost = new Map<string, LostBatch>();
  let newest = 0n;
  let spare: Buffer | undefined;
  let closed = false;
  let willPoke = false;

  const askOver =
    (connections: pg.Pool): Ask =>
    async (doing, statement) => {
      if (closed) throw closedFault();
      try {
        return await connections.query(statement);
      } catch (thrown) {
        throw storeFault(thrown, doing);
      }
    };
  const ask = askOver(pool);

  async function append(batch: JournalBatch): Promise<void> {
    if (closed) throw closedFault();
    if (batch.entries.length === 0) return;
    const client = connection.current();
    if (client === undefined) {
      appended.add(1, { end: "STORE_UNAVAILABLE" });
      throw new Fault("STORE_UNAVAILABLE", connection.complaint() ?? "no connection", { retry: "later" });
    }
    const { buffer, length } = appendMessage(batch, { statement: riskAppend.name, entryType, spare });
    const after = newest;
    // Nobody else's while it is on its way; free again when the server has answered.
    spare = undefined;
    try {
      newest = BigInt(await sendCall(client, riskAppend, buffer.subarray(0, length)));
      spare = buffer;
    } catch (thrown) {
      const fault = appendFault(thrown, batch);
      if (fault.code === "STORE_COMMIT_UNKNOWN") remember(batch, after);
      appended.add(1, { end: fault.code });
      throw fault;
    }
    appended.add(1, { end: "committed" });
    pokeSoon();
  }

  /** Once for all batches of a few milliseconds: whoever follows the journal is in no hurry, and a decision pays for every notification. */
  function pokeSoon(): void {
    if (willPoke) return;
    willPoke = true;
    timers.after(pokeMs, () => {
      willPoke = false;
      if (!closed) wake.poke("decisions");
    });
  }

  function remember(batch: JournalBatch, after: bigint): void {
    lost.set(batch.id, { writerEpoch: batch.writerEpoch, after });
    for (const id of lost.keys()) {
      if (lost.size <= lostMax) break;
      lost.delete(id);
    }
  }

  async function isInJournal(batchId: string, after: bigint): Promise<boolean> {
    const text = "select exists (select from risk_journal where id > $1 and batch = $2) as found";
    const answer = await ask("looking for a batch", { text, values: [String(after), batchId] });
    return answer.rows[0]?.found === true;
  }

  async function outcomeOf(batchId: string): Promise<Outcome> {
    if (!uuid.test(batchId)) {
      throw new Fault("INVALID_ARGUMENT", "this is not the id of a batch", { retry: "never" });
    }
    const known = lost.get(batchId);
    const after = known?.after ?? 0n;
    if (await isInJournal(batchId, after)) return "committed";
    // If somebody took the writer epoch since, it has moved already, and an innocent one keeps what is its own.
    await ask("moving the writer epoch", {
      text: "select risk_move_pen($1, $2)",
      values: [clock.now(), known?.writerEpoch ?? null],
    });
    return (await isInJournal(batchId, after)) ? "committed" : "not committed";
  }

  return {
    ...createRiskReads(ask, askOver(options.reserved ?? pool), clock),
    append,
    outcomeOf,
    async takeWriterEpoch(incarnation) {
      if ((await openedWithin(timers, connection)) !== "open") {
        throw new Fault("STORE_UNAVAILABLE", connection.complaint() ?? "no connection", { retry: "later" });
      }
      const taken = await ask("taking the writer epoch", { text: takeText, values: [incarnation, clock.now()] });
      newest = BigInt(String(taken.rows[0]?.newest));
      return Number(taken.rows[0]?.pen);
    },
    onChange: (run) => whenPublished(wake, tellingOfChanges, run),
    complaint: () => connection.complaint(),
    async close() {
      if (willPoke) wake.poke("decisions");
      closed = true;
      await connection.close();
    },
  };
}

function closedFault(): Fault {
  return new Fault("STORE_UNAVAILABLE", "the risk store has been closed", { retry: "never" });
}

async function openedWithin(timers: Timers, connection: ReturnType<typeof keepConnection>): Promise<string> {
  const enough = new AbortController();
  const cancel = timers.after(openMsMax, () => enough.abort());
  try {
    return await connection.opened(enough.signal);
  } finally {
    cancel();
  }
}

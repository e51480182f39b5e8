// What became of a commit whose answer was lost: asked of the server by the transaction's number, decided by its witness.
import type pg from "pg";
import { Fault } from "../../contracts/src/fault.ts";
import type { Outcome } from "../../ports/store.ts";
import type { Timers } from "../../ports/timers.ts";
import { storeFault } from "./store-fault.ts";

const outcomeMsMax = 10_000;
const outcomeStepMs = 20;
const token = /^([0-9]{1,20})\/([0-9a-f-]{36})$/;

const witnessText = `
select exists (select from commit_marker where id = $1 and xid = $2::xid8)
    or exists (select from outbox where event_id = $1 and xid = $2::xid8) as found,
  (select trimmed_xid >= $2::xid8 from outbox_floor) as trimmed`;

/**
 * A transaction that is still in progress (its server process has not yet noticed that we are gone) is waited for. Then
 * the witness decides: the transaction's number alone could have been handed out again after a crash of the server. A
 * missing witness proves something only while trimming has not come that far; after that the honest answer is a fault.
 */
export async function askOutcome(pool: pg.Pool, timers: Timers, transaction: string): Promise<Outcome> {
  const parts = token.exec(transaction);
  if (parts === null) {
    throw new Fault("INVALID_ARGUMENT", "this is not a transaction of this store", { retry: "never" });
  }
  const [, xid, witness] = parts;
  for (let waitedMs = 0; waitedMs <= outcomeMsMax; waitedMs += outcomeStepMs) {
    const status = await statusOf(pool, xid);
    if (status === "in progress") {
      await timers.sleep(outcomeStepMs);
      continue;
    }
    const { found, trimmed } = await lookForWitness(pool, witness, xid);
    if (found) return "committed";
    if (status === "aborted" || !trimmed) return "not committed";
    throw new Fault("STORE_COMMIT_UNKNOWN", "this commit is too old: what would prove it has been trimmed", {
      retry: "never",
      facts: { transaction },
    });
  }
  throw new Fault("STORE_UNAVAILABLE", "the transaction is still in progress", { retry: "later" });
}

async function lookForWitness(
  pool: pg.Pool,
  witness: string | undefined,
  xid: string | undefined,
): Promise<{ readonly found: boolean; readonly trimmed: boolean }> {
  try {
    const answer = await pool.query({ text: witnessText, values: [witness, xid] });
    return { found: answer.rows[0]?.found === true, trimmed: answer.rows[0]?.trimmed !== false };
  } catch (thrown) {
    throw storeFault(thrown, "asking for an outcome");
  }
}

/** Null when the server no longer knows. */
async function statusOf(pool: pg.Pool, xid: string | undefined): Promise<string | null> {
  try {
    const answer = await pool.query({ text: "select pg_xact_status($1::xid8) as status", values: [xid] });
    return answer.rows[0]?.status ?? null;
  } catch (thrown) {
    // "in the future": the server crashed before the number reached its log, so nothing of the transaction did either.
    if (thrown instanceof Error && "code" in thrown && thrown.code === "22023") return "aborted";
    throw storeFault(thrown, "asking for an outcome");
  }
}

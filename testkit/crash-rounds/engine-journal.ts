// The journal and the halts as the database has them, read page by page for the verdict and the model, without the engine's own code.
import { BinaryReader } from "@bufbuild/protobuf/wire";
import type pg from "pg";
import { Order, RiskDecision } from "../../contracts/src/generated/svc/v1/order.ts";
import type { ApprovalExpired, Fill, OrderTransition } from "../../contracts/src/records/order.ts";
import type { EngineSnapshot } from "../../core/engine/snapshot.ts";
import type { Model } from "./engine-model.ts";
import type { JournalDecision, StoredHalt } from "./engine-verdict.ts";
import { digestOf } from "./engine-witness.ts";

const kinds = { decision: 1, fill: 2, transition: 3, expiry: 5 } as const;
const pageMax = 2_000;

interface Row {
  readonly id: string;
  readonly kind: number;
  readonly at_us: string;
  readonly event_id: string | null;
  readonly payload: Buffer;
}

export interface JournalReader {
  /** Reads on; a snapshot on the way is compared with the model as it stands there. */
  readOn(): Promise<void>;
  readonly decisions: readonly JournalDecision[];
  /** Orders and fills that the journal has heard the end of. */
  readonly fillIds: ReadonlySet<string>;
  readonly endedOrders: ReadonlySet<string>;
  readonly differences: readonly string[];
  readonly snapshotsCompared: () => number;
}

export function readJournal(pool: pg.Pool, model: Model): JournalReader {
  const decisions: JournalDecision[] = [];
  const fillIds = new Set<string>();
  const endedOrders = new Set<string>();
  const differences: string[] = [];
  let last = 0n;
  let compared = 0n;
  let count = 0;

  function apply(row: Row): void {
    if (row.kind === kinds.decision) {
      const { decision, order } = decisionOf(row);
      decisions.push(decision);
      if (decision.approved) model.approve(order);
      return;
    }
    const heard: unknown = JSON.parse(row.payload.toString("utf8"));
    if (row.kind === kinds.fill) {
      const fill = heard as Fill;
      if (fillIds.has(fill.fill_id)) differences.push(`the fill ${fill.fill_id} is in the journal twice`);
      fillIds.add(fill.fill_id);
      model.fill(fill);
    } else if (row.kind === kinds.transition) {
      const transition = heard as OrderTransition;
      endedOrders.add(transition.order_id);
      model.transition(transition);
    } else if (row.kind === kinds.expiry) {
      model.expire((heard as ApprovalExpired).order_id);
    }
  }

  async function readOn(): Promise<void> {
    const snapshot = await newestSnapshot(pool);
    for (;;) {
      const text = "select id, kind, at_us, event_id, payload from risk_journal where id > $1 order by id limit $2";
      const page = await pool.query<Row>(text, [String(last), pageMax]);
      for (const row of page.rows) {
        compare(snapshot, BigInt(row.id));
        apply(row);
        last = BigInt(row.id);
      }
      if (page.rows.length < pageMax) break;
    }
    compare(snapshot, last + 1n);
  }

  /** Once the model stands right after the snapshot's entry. */
  function compare(snapshot: { through: bigint; content: EngineSnapshot } | undefined, next: bigint): void {
    if (snapshot === undefined || snapshot.through <= compared) return;
    if (last > snapshot.through || next <= snapshot.through) return;
    compared = snapshot.through;
    count += 1;
    const found = model.differences(snapshot.content);
    differences.push(...found.slice(0, 5).map((each) => `in the snapshot through ${compared}, ${each}`));
  }

  return { readOn, decisions, fillIds, endedOrders, differences, snapshotsCompared: () => count };
}

async function newestSnapshot(pool: pg.Pool): Promise<{ through: bigint; content: EngineSnapshot } | undefined> {
  const found = await pool.query("select through, content from risk_snapshot order by through desc limit 1");
  const row = found.rows[0];
  if (row === undefined) return undefined;
  return { through: BigInt(row.through), content: JSON.parse(row.content.toString("utf8")) as EngineSnapshot };
}

/** The bytes of the first two fields, which both are messages. */
function recordParts(payload: Uint8Array): readonly [order: Uint8Array, decision: Uint8Array] {
  const reader = new BinaryReader(payload);
  const parts = new Map<number, Uint8Array>();
  while (reader.pos < reader.len) {
    const [field] = reader.tag();
    parts.set(field, reader.bytes());
  }
  const [order, decision] = [parts.get(1), parts.get(2)];
  if (order === undefined || decision === undefined) throw new Error("a decision's record is not whole");
  return [order, decision];
}

function decisionOf(row: Row): { readonly decision: JournalDecision; readonly order: Order } {
  const [orderBytes, decisionBytes] = recordParts(row.payload);
  const order = Order.decode(orderBytes);
  const decided = RiskDecision.decode(decisionBytes);
  const decisionId = row.event_id ?? "";
  const failed = decided.checks.findIndex(({ result }) => result === "FAILED");
  const decision: JournalDecision = {
    id: BigInt(row.id),
    atMicroseconds: Number(row.at_us),
    decisionId,
    key: order.idempotency_key,
    approved: decided.approved,
    code: decided.code,
    digest: digestOf(decisionBytes),
    fundId: order.fund_id,
    strategyId: order.strategy_id,
    reduceOnly: order.reduce_only === true,
    classification: decided.classification ?? "",
    haltEpoch: decided.halt_epoch,
    messageIds: failed === -1 ? [decisionId] : [decisionId, `${decisionId}/${failed}`],
  };
  return { decision, order };
}

export async function storedHalts(pool: pg.Pool): Promise<readonly StoredHalt[]> {
  const found = await pool.query("select halt_id, severity, fund_id, strategy_id, epoch, lifted_epoch from halt");
  return found.rows.map((row) => ({
    haltId: row.halt_id,
    severity: row.severity,
    fund_id: row.fund_id,
    strategy_id: row.strategy_id ?? undefined,
    epoch: Number(row.epoch),
    lift: row.lifted_epoch === null ? undefined : { epoch: Number(row.lifted_epoch) },
  }));
}

/** As the people who may lift halts will do it one day: the rows and the epoch together. */
export async function liftHalts(pool: pg.Pool): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    const active = await client.query("select from halt where lifted_us is null");
    if (active.rowCount === 0) {
      await client.query("rollback");
      return;
    }
    const { rows } = await client.query("update halt_epoch set epoch = epoch + 1 returning epoch");
    await client.query("update halt set lifted_us = since_us + 1, lifted_epoch = $1 where lifted_us is null", [
      rows[0]?.epoch,
    ]);
    // Only the owner can say that a change without an event is right.
    await client.query("delete from guarded_row where of_table = 'halt'");
    await client.query("commit");
  } finally {
    client.release();
  }
}

/** Events that a subscription gave up on: to the engine's books they would be lost. */
export async function parkedEvents(pool: pg.Pool): Promise<readonly { subscription: string; error: string }[]> {
  return (await pool.query("select subscription, error from parked_event")).rows;
}

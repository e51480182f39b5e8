// What people ask about decisions and envelopes after the fact, answered from the journal's indexes page by page.
import type pg from "pg";
import type { Instant } from "../../../contracts/src/instant.ts";
import type { RiskEnvelope } from "../../../contracts/src/records/envelope.ts";
import { refusedPrefix } from "../../../contracts/src/records/order.ts";
import type { RejectionQuery, RiskQueries, StoredDecision, StoredRejection } from "../../../ports/risk-queries.ts";
import { columnOfText } from "../exact-text.ts";
import { storableId } from "../storable-text.ts";
import { storeFault } from "../store-fault.ts";
import { haltChangesOf, haltChangesText, type PastHaltRow, pastHaltOf } from "./halt-changes.ts";
import { clockSlackUs } from "./risk-reads.ts";

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const markText = "select at_us, id from risk_journal where approved = false and at_us >= $1 and event_id = $2::uuid";

/** Rows that one statement looks at. */
const pageRows = 20_000;
const pageText = `
with page as materialized (
  select id, at_us, kind, kind = 1 and fund_id = $3 and at_us >= $4 and at_us < $5 as matched
  from risk_journal where id > greatest($1, (select risk_journal_before($6))) order by id limit $2)
select count(*) as count, max(id)::text as through, min(at_us) filter (where kind = 1) as oldest_us,
  array_agg(id::text order by id) filter (where matched) as hits from page`;

/** What order management refuses by itself; the condition of the index. */
const isRefused = `state = 'REJECTED'
  and content->>'code' in ('ORDER_HALTED', 'ORDER_FUND_FLATTENING', 'APPROVAL_OUTDATED', 'APPROVAL_EXPIRED', 'APPROVAL_RELEASED',
    'ORDER_CHECK_UNANSWERED')`;
const refusedMarkText = `select updated_us from oms_order where ${isRefused} and updated_us >= $1 and order_id = $2`;

/** The last row of a page: a decision's, or an order's that was refused at the door. */
interface Place {
  readonly atUs: string;
  readonly id?: string;
  readonly orderId?: string;
}

interface Dated {
  readonly atUs: number;
  readonly stored: StoredRejection;
}

function numbered(values: unknown[]) {
  return { values, place: (value: unknown): string => `$${values.push(value)}` };
}

/** Both are sorted, newest first. */
function merged(engine: readonly Dated[], door: readonly Dated[]): readonly StoredRejection[] {
  return [...engine, ...door].sort((one, other) => other.atUs - one.atUs).map(({ stored }) => stored);
}

interface Period {
  readonly fundId: string;
  readonly from: Instant;
  readonly to: Instant;
  readonly after: bigint;
  readonly countMax: number;
}

export function createRiskQueries(pool: pg.Pool): RiskQueries {
  async function ask(text: string, values: readonly unknown[]): Promise<pg.QueryResult> {
    try {
      return await pool.query({ text, values: [...values] });
    } catch (thrown) {
      throw storeFault(thrown, "a query about risk");
    }
  }
  const decisions = async (text: string, values: readonly unknown[]): Promise<readonly StoredDecision[]> =>
    (await ask(text, values)).rows.map((row) => ({
      id: BigInt(row.id),
      decisionId: row.event_id,
      payload: row.payload,
    }));

  /** There is no index by fund: the rows of that time are looked through, a bounded page at a time, from the number on. */
  async function between(asked: Period): Promise<readonly StoredDecision[]> {
    const hits: string[] = [];
    let after = String(asked.after);
    for (;;) {
      const [page] = (
        await ask(pageText, [
          after,
          pageRows,
          storableId(asked.fundId),
          asked.from,
          asked.to,
          asked.from - clockSlackUs,
        ])
      ).rows;
      hits.push(...(page.hits ?? []));
      const isLast = Number(page.count) < pageRows || Number(page.oldest_us) >= asked.to + clockSlackUs;
      if (isLast || hits.length >= asked.countMax) break;
      after = page.through;
    }
    const text = "select id, event_id, payload from risk_journal where id = any ($1::bigint[]) order by id";
    return decisions(text, [hits.slice(0, asked.countMax)]);
  }

  /** Where the list goes on; of one moment the engine's stand before those of the door. */
  async function placeOf({ since, afterDecisionId: after }: RejectionQuery): Promise<Place | "nowhere" | undefined> {
    if (after === undefined) return undefined;
    if (after.startsWith(refusedPrefix)) {
      const orderId = after.slice(refusedPrefix.length);
      const [row] = (await ask(refusedMarkText, [since, storableId(orderId)])).rows;
      return row === undefined ? "nowhere" : { atUs: row.updated_us, orderId };
    }
    const [row] = uuid.test(after) ? (await ask(markText, [since, after])).rows : [];
    return row === undefined ? "nowhere" : { atUs: row.at_us, id: row.id };
  }

  async function denied(query: RejectionQuery, after: Place | undefined): Promise<readonly Dated[]> {
    const { values, place } = numbered([query.since]);
    let conditions = "approved = false and at_us >= $1";
    if (query.fundId !== undefined) conditions += ` and fund_id = ${place(storableId(query.fundId))}`;
    if (after?.id !== undefined) conditions += ` and (at_us, id) < (${place(after.atUs)}, ${place(after.id)})`;
    else if (after !== undefined) conditions += ` and at_us < ${place(after.atUs)}`;
    const text = `select id, event_id, payload, at_us from risk_journal where ${conditions}
      order by at_us desc, id desc limit ${place(query.countMax)}`;
    return (await ask(text, values)).rows.map((row) => ({
      atUs: Number(row.at_us),
      stored: { id: BigInt(row.id), decisionId: row.event_id, payload: row.payload },
    }));
  }

  async function refused(query: RejectionQuery, after: Place | undefined): Promise<readonly Dated[]> {
    const { values, place } = numbered([query.since]);
    let conditions = `${isRefused} and updated_us >= $1`;
    if (query.fundId !== undefined) conditions += ` and fund_id = ${place(storableId(query.fundId))}`;
    if (after?.orderId !== undefined) {
      conditions += ` and (updated_us, order_id) < (${place(after.atUs)}, ${place(storableId(after.orderId))})`;
    } else if (after !== undefined) conditions += ` and updated_us <= ${place(after.atUs)}`;
    const text = `select updated_us, content from oms_order where ${conditions}
      order by updated_us desc, order_id desc limit ${place(query.countMax)}`;
    return (await ask(text, values)).rows.map(({ updated_us, content: { order, code, reason = "" } }) => ({
      atUs: Number(updated_us),
      stored: { refusedAt: Number(updated_us) as Instant, order, code, reason },
    }));
  }

  return {
    haltChanges: async (afterEpoch, countMax) =>
      haltChangesOf((await ask(haltChangesText, [afterEpoch, countMax])).rows[0]),
    async pastHalts({ countMax, fundId, idPrefix, afterHaltId }) {
      const { values, place } = numbered([]);
      const conditions = ["true"];
      if (fundId !== undefined) conditions.push(`fund_id = ${place(storableId(fundId))}`);
      if (idPrefix !== undefined) conditions.push(`starts_with(halt_id, ${place(columnOfText(idPrefix))})`);
      if (afterHaltId !== undefined) {
        conditions.push(`epoch < (select epoch from halt where halt_id = ${place(storableId(afterHaltId))})`);
      }
      const text = `select content::text as content, lifted_us from halt where ${conditions.join(" and ")}
        order by epoch desc limit ${place(countMax)}`;
      return (await ask(text, values)).rows.map((row: PastHaltRow) => pastHaltOf(row));
    },
    async rejections(query) {
      const after = await placeOf(query);
      // Unknown, or meanwhile older than what is asked for, as is everything after it.
      if (after === "nowhere") return [];
      const [engine, door] = await Promise.all([denied(query, after), refused(query, after)]);
      return merged(engine, door).slice(0, query.countMax);
    },
    decisionsOf: (orderId, countMax) =>
      decisions(
        "select id, event_id, payload from risk_journal where kind = 1 and order_id = $1 order by at_us, id limit $2",
        [storableId(orderId), countMax],
      ),
    decisionsBetween: (fundId, from, to, after, countMax) => between({ fundId, from, to, after, countMax }),
    async envelope(fundId, version) {
      const newest = "(select version from risk_envelope_head where fund_id = $1)";
      const found =
        version === undefined
          ? await ask(`select content from risk_envelope where fund_id = $1 and version = ${newest}`, [
              storableId(fundId),
            ])
          : await ask("select content from risk_envelope where fund_id = $1 and version = $2", [
              storableId(fundId),
              version,
            ]);
      return found.rows[0]?.content;
    },
    async envelopes(fundId, countMax, before = Number.MAX_SAFE_INTEGER): Promise<readonly RiskEnvelope[]> {
      const text =
        "select content from risk_envelope where fund_id = $1 and version < $3 order by version desc limit $2";
      return (await ask(text, [storableId(fundId), countMax, before])).rows.map((row) => row.content);
    },
  };
}

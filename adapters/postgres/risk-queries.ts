// What people ask about decisions and envelopes after the fact, answered from the journal's indexes page by page.
import type pg from "pg";
import type { Instant } from "../../contracts/src/instant.ts";
import type { RiskEnvelope } from "../../contracts/src/records/envelope.ts";
import type { RiskQueries, StoredDecision } from "../../ports/risk-queries.ts";
import { clockSlackUs } from "./risk-reads.ts";
import { storableId } from "./storable-text.ts";
import { storeFault } from "./store-fault.ts";

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

  return {
    async rejections({ fundId, since, countMax, afterDecisionId }) {
      const values: unknown[] = [since];
      const place = (value: unknown): string => `$${values.push(value)}`;
      let conditions = "approved = false and at_us >= $1";
      if (fundId !== undefined) conditions += ` and fund_id = ${place(storableId(fundId))}`;
      if (afterDecisionId !== undefined) {
        const [row] = uuid.test(afterDecisionId) ? (await ask(markText, [since, afterDecisionId])).rows : [];
        // Unknown, or meanwhile older than what is asked for, as is everything after it.
        if (row === undefined) return [];
        conditions += ` and (at_us, id) < (${place(row.at_us)}, ${place(row.id)})`;
      }
      return decisions(
        `select id, event_id, payload from risk_journal where ${conditions}
         order by at_us desc, id desc limit ${place(countMax)}`,
        values,
      );
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
    async envelopes(fundId, countMax): Promise<readonly RiskEnvelope[]> {
      const text = "select content from risk_envelope where fund_id = $1 order by version desc limit $2";
      return (await ask(text, [storableId(fundId), countMax])).rows.map((row) => row.content);
    },
  };
}

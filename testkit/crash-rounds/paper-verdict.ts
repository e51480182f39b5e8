// What must be true of a platform that trades, whoever was killed: nothing that was acknowledged is lost, no trade is missing or there twice, our books
// and the broker's are the same, and all of our books agree with each other. Each function gives a sentence for everything that is wrong.
import type pg from "pg";
import { createBooksQueries } from "../../adapters/postgres/queries/books-queries.ts";
import type { Exposures } from "../../contracts/src/generated/svc/v1/riskengine.ts";
import { fromUnixMs } from "../../contracts/src/instant.ts";
import { addLook, compareBooks, noTotals } from "../../core/reconcile/books.ts";
import type { PaperFixture } from "./paper-fixture.ts";

const asked = "set search_path = portcullis; begin isolation level repeatable read read only";

/** In one state of the database: reports up to our cursor against our trades, orders against their trades, our orders against the broker's. */
const brokerTexts: readonly string[] = [
  `with reported as (select 'paper:' || (content->'execution'->>'executionId') as fill_id, content->'execution'->>'quantity' as quantity
     from paper_report where content->'execution' is not null and cursor <= (select cursor from oms_report_cursor where broker = 'paper')),
   ours as (select fill_id, content->>'quantity' as quantity from oms_fill
     where coalesce(content->>'kind', 'TRADE') not in ('SEED', 'CORPORATE_ACTION', 'CASH_IN_LIEU', 'CROSS'))
   select format('The trade %s is %s at the broker and %s with us.', fill_id, coalesce(reported.quantity, 'missing'),
     coalesce(ours.quantity, 'missing')) as wrong
   from reported full join ours using (fill_id) where reported.quantity is distinct from ours.quantity`,
  `select format('The broker reported the trade %s %s times.', content->'execution'->>'executionId', count(*)) as wrong from paper_report
   where content->'execution' is not null group by content->'execution'->>'executionId' having count(*) > 1`,
  `select format('The order %s says %s filled, its trades say %s.', o.order_id, o.content->>'filledQuantity', coalesce(f.filled, 0)) as wrong
   from oms_order o left join (select order_id, sum((content->>'quantity')::numeric) as filled from oms_fill group by 1) f using (order_id)
   where o.content->>'sliced' is null and (o.content->>'filledQuantity')::numeric <> coalesce(f.filled, 0)`,
  `select format('The order %s is %s with us and %s at the broker.', o.order_id, o.state, p.content->>'state') as wrong
   from oms_order o join paper_order p on p.client_order_id = o.order_id
   where o.is_open <> p.is_open and (select cursor from oms_report_cursor where broker = 'paper') = (select cursor from paper_head)`,
  `select format('The broker holds %s of %s %s, we hold %s.', coalesce(p.quantity, 0), fund_id, symbol, coalesce(o.quantity, 0)) as wrong
   from (select account as fund_id, symbol, quantity from paper_position) p
   full join (select fund_id, symbol, sum(quantity) as quantity from oms_position group by 1, 2) o using (fund_id, symbol)
   where coalesce(p.quantity, 0) <> coalesce(o.quantity, 0)
     and (select cursor from oms_report_cursor where broker = 'paper') = (select cursor from paper_head)`,
];

export async function wrongWithBroker(owner: pg.Pool): Promise<readonly string[]> {
  const client = await owner.connect();
  try {
    await client.query(asked);
    const wrong: string[] = [];
    for (const text of brokerTexts) wrong.push(...(await client.query(text)).rows.map((row) => String(row.wrong)));
    await client.query("rollback");
    return wrong;
  } finally {
    client.release();
  }
}

/** Everything added up from the beginning, with what the engine itself believes. */
export async function wrongWithBooks({ owner, ask }: PaperFixture): Promise<readonly string[]> {
  const { lines } = await ask<Exposures>("RiskEngine", "ListExposures", {});
  const believed = lines.map((line) => ({
    fundId: line.fund_id,
    symbol: line.symbol,
    quantity: line.quantity,
    pendingBuy: line.pending_buy,
    pendingSell: line.pending_sell,
  }));
  const look = await createBooksQueries(owner).look(noTotals.marks, undefined, []);
  const totals = addLook(noTotals, look);
  const at = fromUnixMs(Date.now());
  const engine = { believed, approvals: [], overReserved: new Set<string>() };
  const results = compareBooks({ totals, look, ...engine, liveBefore: [], late: new Set(), at, ledgerBefore: [] });
  return Object.values(results).flatMap(({ differences }) => differences.map(({ sentence }) => sentence));
}

export async function lostOrders(owner: pg.Pool, acknowledged: readonly string[]): Promise<readonly string[]> {
  const text = `select id from unnest($1::text[]) as id where not exists (select from portcullis.oms_order where order_id = id)`;
  const { rows } = await owner.query<{ id: string }>(text, [acknowledged]);
  return rows.map(({ id }) => `The order ${id} was acknowledged and is gone.`);
}

/** Orders that were there at that moment and are neither at rest nor over: somebody should be driving them. */
export async function ordersUnderWay(owner: pg.Pool, beforeUs: number): Promise<readonly string[]> {
  const text = `select order_id, state from portcullis.oms_order
    where is_open and created_us < $1 and state not in ('WORKING', 'PARTIALLY_FILLED')`;
  const { rows } = await owner.query<{ order_id: string; state: string }>(text, [beforeUs]);
  return rows.map(({ order_id, state }) => `${order_id} ${state}`);
}

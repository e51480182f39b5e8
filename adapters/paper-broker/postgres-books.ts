// The paper broker's books in PostgreSQL. Every change locks the head's row first, so changes follow one another and reports are numbered in
// the order in which they can be seen; what was written is durable before anybody is answered.
import type pg from "pg";
import { Defect, Fault, messageOf } from "../../contracts/src/fault.ts";
import { fromMicroseconds } from "../../contracts/src/instant.ts";
import { type BookChanges, type BookView, type Decided, openOrdersMax } from "../../core/paper/paper-broker.ts";
import { isOpenState } from "../../core/paper/paper-matching.ts";
import { storeFault } from "../postgres/store-fault.ts";
import {
  orderOf,
  positionOf,
  reportOf,
  type StoredOrder,
  type StoredPosition,
  storedOrder,
  storedPosition,
  storedReport,
} from "./book-codec.ts";
import type { AccountView, BookSelection, PaperBooks } from "./paper-books.ts";

const lockHead = { name: "paper_head_lock", text: "select from paper_head for update" };
/** Amounts as text, because a number in JSON is a binary one. */
const positionJson =
  "json_build_object('account', account, 'symbol', symbol, 'quantity', quantity::text, 'average_price', average_price::text)";

export function postgresPaperBooks(pool: pg.Pool): PaperBooks {
  async function ask(text: string, values: readonly unknown[]): Promise<pg.QueryResult["rows"]> {
    try {
      return (await pool.query({ text, values: [...values] })).rows;
    } catch (thrown) {
      throw storeFault(thrown, "a question to the paper broker's books");
    }
  }

  return {
    async change(selection, decide) {
      let client: pg.PoolClient | undefined;
      try {
        if (selection.mayChangeNothing === true) {
          const { answer, changes } = decided(decide, await load(pool, selection));
          if (changes === undefined) return answer;
        }
        client = await pool.connect();
        const answer = await changeOn(client, selection, decide);
        client.release();
        return answer;
      } catch (thrown) {
        // Closing the connection undoes what was begun; after a lost answer to the commit nobody knows, and the caller is told so.
        client?.release(true);
        if (thrown instanceof Defect) throw thrown;
        throw storeFault(thrown, "a change of the paper broker's books");
      }
    },
    async order(clientOrderId) {
      const [row] = await ask("select content from paper_order where client_order_id = $1", [clientOrderId]);
      return row === undefined ? undefined : orderOf(row.content);
    },
    account: (account) => accountOf(ask, account),
    async reports(after, countMax) {
      const text = "select content from paper_report where cursor > $1 order by cursor limit $2";
      return (await ask(text, [after, countMax])).map((row) => reportOf(row.content));
    },
    async cursor() {
      const [row] = await ask("select cursor from paper_head", []);
      return Number(row?.cursor);
    },
    async waiting(at) {
      const [row] = await ask(
        `select array(select distinct symbol from paper_order where is_open) as symbols,
           exists (select from paper_order where is_open and expires_us <= $1) as some_ended`,
        [at],
      );
      return { symbols: row?.symbols ?? [], someEnded: row?.some_ended ?? false };
    },
    async setLag(account, until) {
      await ask(
        `insert into paper_lag (account, until_us, content)
         select $1, $2, coalesce(json_agg(${positionJson}), '[]'::json)
         from paper_position where account = $1 and quantity <> 0
         on conflict (account) do update set until_us = excluded.until_us, content = excluded.content`,
        [account, until],
      );
    },
  };
}

async function changeOn<Answer>(
  client: pg.PoolClient,
  selection: BookSelection,
  decide: (view: BookView) => Decided<Answer>,
): Promise<Answer> {
  // Sent together and done one after the other: the question sees what the books are once the lock is ours.
  // All are waited for, because a lost connection fails all, and a failure that nobody waits for ends the process.
  const [, , view] = await Promise.all([client.query("begin"), client.query(lockHead), load(client, selection)]);
  const { answer, changes } = decided(decide, view);
  if (changes === undefined) {
    await client.query("rollback");
    return answer;
  }
  const written = writes(changes).map((statement) => client.query(statement));
  const committed = client.query("commit");
  const [commit, ...rest] = await Promise.allSettled([committed, ...written]);
  const failed = rest.find((one) => one.status === "rejected");
  if (failed?.status === "rejected") throw failed.reason;
  if (commit.status === "rejected") throw commit.reason;
  return answer;
}

/** A mistake of ours while deciding is not the database's. */
function decided<Answer>(decide: (view: BookView) => Decided<Answer>, view: BookView): Decided<Answer> {
  try {
    return decide(view);
  } catch (thrown) {
    throw new Defect(`the paper broker could not decide: ${messageOf(thrown)}`, { cause: thrown });
  }
}

/** In one statement, and so of one moment. Amounts and times are texts, because a number in JSON is a binary one. */
const viewText = `
select cursor, arrivals, begun, hide_next,
  (select content from paper_order where client_order_id = $1) as one,
  array(select content from paper_order where is_open and (symbol = any ($2::text[]) or expires_us <= $3)) as open,
  array(select ${positionJson} from paper_position where symbol = any ($2::text[])) as positions,
  array(select json_build_array(symbol, quoted_us::text) from paper_print where symbol = any ($2::text[])) as prints,
  (select count(*) from (select from paper_order where is_open limit ${openOrdersMax}) as counted) as count,
  exists (select from paper_action where action_id = $4) as has_action
from paper_head`;

interface ViewRow {
  readonly cursor: string;
  readonly arrivals: string;
  readonly begun: boolean;
  readonly hide_next: number;
  readonly one: StoredOrder | null;
  readonly open: readonly StoredOrder[];
  readonly positions: readonly StoredPosition[];
  readonly prints: readonly (readonly [symbol: string, quotedUs: string])[];
  readonly count: string;
  readonly has_action: boolean;
}

async function load(client: Pick<pg.PoolClient, "query">, selection: BookSelection): Promise<BookView> {
  const { orderId, symbols, endedBy, actionId } = selection;
  const values = [orderId ?? null, [...(symbols ?? [])], endedBy ?? null, actionId ?? null];
  const [row] = (await client.query<ViewRow>({ name: "paper_view", text: viewText, values })).rows;
  if (row === undefined) throw new Fault("INTERNAL", "the paper broker's books have no head", { retry: "never" });
  return {
    cursor: Number(row.cursor),
    arrivals: Number(row.arrivals),
    begun: row.begun,
    hideNext: row.hide_next,
    openCount: Number(row.count),
    order: row.one === null ? undefined : orderOf(row.one),
    open: row.open.map(orderOf).sort((left, right) => left.arrival - right.arrival),
    positions: row.positions.map(positionOf),
    prints: new Map(row.prints.map(([symbol, quotedUs]) => [symbol, fromMicroseconds(Number(quotedUs))])),
    hasAction: row.has_action,
  };
}

function writes(changes: BookChanges): readonly pg.QueryConfig[] {
  const statements: pg.QueryConfig[] = [
    {
      name: "paper_head_move",
      text: "update paper_head set cursor = $1, arrivals = $2, begun = $3, hide_next = $4",
      values: [changes.cursor, changes.arrivals, changes.begun, changes.hideNext],
    },
  ];
  if (changes.actionId !== undefined) {
    const text = "insert into paper_action (action_id) values ($1)";
    statements.push({ name: "paper_action_put", text, values: [changes.actionId] });
  }
  const put = (name: string, text: string, rows: readonly unknown[]) => {
    if (rows.length > 0) statements.push({ name, text, values: [JSON.stringify(rows)] });
  };
  put(
    "paper_order_put",
    `insert into paper_order as stored (client_order_id, account, symbol, is_open, expires_us, content)
     select client_order_id, account, symbol, is_open, expires_us, content from json_to_recordset($1)
       as one (client_order_id text, account text, symbol text, is_open boolean, expires_us bigint, content json)
     on conflict (client_order_id) do update
       set is_open = excluded.is_open, expires_us = excluded.expires_us, content = excluded.content`,
    changes.orders.map((order) => ({
      client_order_id: order.clientOrderId,
      account: order.account,
      symbol: order.symbol,
      is_open: isOpenState(order.state),
      expires_us: order.expiresAt ?? null,
      content: storedOrder(order),
    })),
  );
  put(
    "paper_report_put",
    "insert into paper_report (cursor, content) select cursor, content from json_to_recordset($1) as one (cursor bigint, content json)",
    changes.reports.map((report) => ({ cursor: report.cursor, content: storedReport(report) })),
  );
  put(
    "paper_position_put",
    `insert into paper_position as stored (account, symbol, quantity, average_price)
     select account, symbol, quantity, average_price from json_to_recordset($1)
       as one (account text, symbol text, quantity numeric, average_price numeric)
     on conflict (account, symbol) do update set quantity = excluded.quantity, average_price = excluded.average_price`,
    changes.positions.map(storedPosition),
  );
  put(
    "paper_print_put",
    `insert into paper_print (symbol, quoted_us) select symbol, quoted_us from json_to_recordset($1) as one (symbol text, quoted_us bigint)
     on conflict (symbol) do update set quoted_us = excluded.quoted_us`,
    [...changes.prints].map(([symbol, at]) => ({ symbol, quoted_us: at })),
  );
  return statements;
}

type Rows = pg.QueryResult["rows"];

/** In one statement, and so of one moment. */
async function accountOf(
  ask: (text: string, values: readonly unknown[]) => Promise<Rows>,
  account: string,
): Promise<AccountView> {
  const [row] = await ask(
    `select cursor, begun,
       (select coalesce(json_agg(content), '[]'::json) from paper_order where is_open and account = $1) as open,
       (select coalesce(json_agg(${positionJson} order by symbol), '[]'::json)
        from paper_position where account = $1 and quantity <> 0) as positions,
       (select json_build_object('until', until_us, 'positions', content) from paper_lag where account = $1) as lag
     from paper_head`,
    [account],
  );
  if (row === undefined) throw new Fault("INTERNAL", "the paper broker's books have no head", { retry: "never" });
  const { open, positions, lag } = row as AccountRow;
  return {
    cursor: Number(row.cursor),
    begun: row.begun,
    open: open.map(orderOf).sort((left, right) => left.arrival - right.arrival),
    positions: positions.map(positionOf),
    lag: lag === null ? undefined : { until: fromMicroseconds(lag.until), positions: lag.positions.map(positionOf) },
  };
}

interface AccountRow {
  readonly open: readonly StoredOrder[];
  readonly positions: readonly StoredPosition[];
  readonly lag: { readonly until: number; readonly positions: readonly StoredPosition[] } | null;
}

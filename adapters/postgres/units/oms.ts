// Order management's repository in a transaction: orders, trades, positions, and how far brokers' reports were booked.
import * as decimal from "../../../contracts/src/decimal.ts";
import { Fault } from "../../../contracts/src/fault.ts";
import { fromMicroseconds, parse } from "../../../contracts/src/instant.ts";
import type { Fill } from "../../../contracts/src/records/order.ts";
import type { OmsRecords, StoredOrder, StoredPosition } from "../../../ports/oms-records.ts";
import { columnOfText } from "../exact-text.ts";
import { columnsOfOrder, type OrderRow, orderOfRow } from "../queries/oms-rows.ts";
import type { Sql } from "../store-transaction.ts";

interface PositionRow {
  readonly fund_id: string;
  readonly strategy_id: string;
  readonly symbol: string;
  readonly quantity: string;
  readonly cost: string;
  readonly average_price: string;
  readonly realised_pnl: string;
  readonly opened_by: string;
  readonly updated_us: string;
}

const positionColumns =
  "fund_id, strategy_id, symbol, quantity, cost, average_price, realised_pnl, opened_by, updated_us";

export function omsRecords(sql: Sql): OmsRecords {
  return { ...orderRecords(sql), ...tradeRecords(sql), haltsAtSending: () => haltsAtSending(sql) };
}

/** Shared with other senders, and closed to whoever latches or lifts until this transaction ends. */
async function haltsAtSending(sql: Sql): ReturnType<OmsRecords["haltsAtSending"]> {
  const locked = await sql.write({ text: "select epoch from halt_epoch for share" });
  const found = await sql.read({ text: "select content from halt where lifted_us is null order by epoch" });
  return { epoch: Number(locked.rows[0]?.epoch), active: found.rows.map((row) => row.content) };
}

type OrderPart = Pick<
  OmsRecords,
  | "lockKey"
  | "trimKeys"
  | "insertOrder"
  | "lockOrder"
  | "updateOrder"
  | "order"
  | "openOrders"
  | "cancelledFor"
  | "slicesOf"
>;

function orderRecords(sql: Sql): OrderPart {
  const one = (rows: readonly OrderRow[]): StoredOrder | undefined =>
    rows[0] === undefined ? undefined : orderOfRow(rows[0]);
  return {
    async lockKey(key, since) {
      const column = columnOfText(key);
      // Written and not only locked: a transaction that waited for another's commit would else look at what was before it.
      await sql.write({
        name: "oms_key_take",
        text: `insert into oms_key (idempotency_key) values ($1)
               on conflict (idempotency_key) do update set idempotency_key = excluded.idempotency_key`,
        values: [column],
      });
      const found = await sql.read({
        name: "oms_order_by_key",
        text: `select content from oms_order where idempotency_key = $1 and created_us >= $2
               order by created_us desc, order_id desc limit 1`,
        values: [column, since],
      });
      return one(found.rows);
    },
    async trimKeys(before, countMax) {
      const removed = await sql.write({
        text: `delete from oms_key where idempotency_key in (
                 select idempotency_key from oms_key key where not exists (
                   select from oms_order taken
                   where taken.idempotency_key = key.idempotency_key and taken.created_us >= $1)
                 limit $2 for update skip locked)`,
        values: [before, countMax],
      });
      return removed.rowCount ?? 0;
    },
    async insertOrder(stored) {
      const inserted = await sql.write({
        name: "oms_order_insert",
        text: `insert into oms_order (order_id, idempotency_key, fund_id, state, is_open, parent_order_id, created_us, updated_us, content)
               values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict (order_id) do nothing`,
        values: columnsOfOrder(stored),
      });
      if (inserted.rowCount === 1) return;
      const { order_id: orderId } = stored.order;
      throw new Fault("STORE_CONFLICT", `the order ${orderId} exists already`, {
        retry: "now",
        facts: { order_id: orderId },
      });
    },
    async lockOrder(orderId) {
      const found = await sql.write({
        name: "oms_order_lock",
        text: "select content from oms_order where order_id = $1 for update",
        values: [columnOfText(orderId)],
      });
      return one(found.rows);
    },
    async updateOrder(stored) {
      const [orderId, , , state, isOpen, , , updatedUs, content] = columnsOfOrder(stored);
      await sql.write({
        name: "oms_order_update",
        text: "update oms_order set state = $2, is_open = $3, updated_us = $4, content = $5 where order_id = $1",
        values: [orderId, state, isOpen, updatedUs, content],
      });
    },
    async order(orderId) {
      const found = await sql.read({
        name: "oms_order_read",
        text: "select content from oms_order where order_id = $1",
        values: [columnOfText(orderId)],
      });
      return one(found.rows);
    },
    async openOrders() {
      const found = await sql.read({
        name: "oms_order_open",
        text: "select content from oms_order where is_open order by created_us, order_id",
      });
      return (found.rows as readonly OrderRow[]).map(orderOfRow);
    },
    async cancelledFor(reason) {
      const found = await sql.read({
        name: "oms_order_cancelled_for",
        text: "select count(*) as count from oms_order where state = 'CANCELLED' and content ->> 'cancelReason' = $1",
        values: [reason],
      });
      return Number((found.rows[0] as { readonly count: string }).count);
    },
    async slicesOf(parentOrderId) {
      const found = await sql.read({
        name: "oms_order_slices",
        text: `select content from oms_order where parent_order_id = $1
               order by substring(order_id from '[0-9]+$')::bigint`,
        values: [columnOfText(parentOrderId)],
      });
      return (found.rows as readonly OrderRow[]).map(orderOfRow);
    },
  };
}

function tradeRecords(sql: Sql): Omit<OmsRecords, keyof OrderPart | "haltsAtSending"> {
  return {
    async insertFill(fill) {
      const known = await sql.read({
        name: "oms_fill_known",
        text: "select 1 from oms_fill where fill_id = $1",
        values: [fill.fill_id],
      });
      if (known.rows.length > 0) return false;
      const counted = await sql.write({
        name: "oms_fund_count",
        text: `insert into oms_fund as fund (fund_id, fill_sequence) values ($1, coalesce($2::bigint, 1))
               on conflict (fund_id) do update set fill_sequence = greatest(fund.fill_sequence, coalesce($2::bigint, fund.fill_sequence + 1))
               returning fill_sequence`,
        values: [fill.fund_id, fill.sequence ?? null],
      });
      const booked: Fill = { ...fill, sequence: fill.sequence ?? Number(counted.rows[0]?.fill_sequence) };
      const inserted = await sql.write({
        name: "oms_fill_insert",
        text: `insert into oms_fill (fill_id, order_id, fund_id, sequence, filled_us, content)
               values ($1, $2, $3, $4, $5, $6) on conflict (fill_id) do nothing`,
        values: [
          booked.fill_id,
          booked.order_id,
          booked.fund_id,
          booked.sequence,
          parse(booked.filled_at),
          JSON.stringify(booked),
        ],
      });
      if (inserted.rowCount === 1) return booked;
      // Another transaction booked it between the look and here: this one must not keep the number that it took.
      throw new Fault("STORE_CONFLICT", `the fill ${fill.fill_id} was booked at the same time`, { retry: "now" });
    },
    async importFills(fills) {
      const inserted = await sql.write({
        text: `insert into oms_fill (fill_id, order_id, fund_id, sequence, filled_us, content)
               select fill_id, order_id, fund_id, 0, filled_us, content::json
               from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[])
                 as given (fill_id, order_id, fund_id, filled_us, content)
               on conflict (fill_id) do nothing`,
        values: [
          fills.map(({ fill_id }) => fill_id),
          fills.map(({ order_id }) => order_id),
          fills.map(({ fund_id }) => fund_id),
          fills.map(({ filled_at }) => parse(filled_at)),
          fills.map((fill) => JSON.stringify(fill)),
        ],
      });
      return inserted.rowCount ?? 0;
    },
    async unbookedFills(fundIds, countMax) {
      const found = await sql.read({
        text: `select f.content from oms_fill f
               where f.fund_id = any($1::text[]) and f.sequence > 0
                 and not exists (select from treasury_entry e where e.entry_id = 'fill:' || f.fill_id)
               order by f.filled_us desc, f.fill_id desc limit $2`,
        values: [fundIds, countMax],
      });
      return found.rows.map((row) => row.content);
    },
    async fillsOf(orderId) {
      const found = await sql.read({
        text: "select content from oms_fill where order_id = $1 order by sequence, fill_id",
        values: [orderId],
      });
      return found.rows.map((row) => row.content);
    },
    async lockPosition(fundId, strategyId, symbol) {
      const found = await sql.write({
        name: "oms_position_lock",
        text: `select ${positionColumns} from oms_position
               where fund_id = $1 and strategy_id = $2 and symbol = $3 for update`,
        values: [fundId, strategyId, symbol],
      });
      const [row] = found.rows as readonly PositionRow[];
      return row === undefined ? undefined : positionOf(row);
    },
    async putPosition(position) {
      await sql.write({
        name: "oms_position_put",
        text: `insert into oms_position (${positionColumns}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
               on conflict (fund_id, strategy_id, symbol) do update set quantity = excluded.quantity, cost = excluded.cost,
                 average_price = excluded.average_price, realised_pnl = excluded.realised_pnl,
                 opened_by = excluded.opened_by, updated_us = excluded.updated_us`,
        values: columnsOfPosition(position),
      });
    },
    async positions(fundId) {
      const found = await sql.read({
        name: "oms_positions",
        text: `select ${positionColumns} from oms_position where $1::text is null or fund_id = $1
               order by fund_id, strategy_id, symbol`,
        values: [fundId ?? null],
      });
      return (found.rows as readonly PositionRow[]).map(positionOf);
    },
    async lockReportCursor(broker) {
      await sql.write({
        name: "oms_cursor_insert",
        text: "insert into oms_report_cursor (broker, cursor) values ($1, 0) on conflict (broker) do nothing",
        values: [broker],
      });
      const found = await sql.write({
        name: "oms_cursor_lock",
        text: "select cursor from oms_report_cursor where broker = $1 for update",
        values: [broker],
      });
      return Number(found.rows[0]?.cursor);
    },
    async reportCursor(broker) {
      const found = await sql.read({
        name: "oms_cursor_read",
        text: "select cursor from oms_report_cursor where broker = $1",
        values: [broker],
      });
      return Number(found.rows[0]?.cursor ?? 0);
    },
    async putReportCursor(broker, cursor) {
      await sql.write({
        name: "oms_cursor_put",
        text: `insert into oms_report_cursor (broker, cursor) values ($1, $2)
               on conflict (broker) do update set cursor = excluded.cursor`,
        values: [broker, cursor],
      });
    },
  };
}

function columnsOfPosition(position: StoredPosition): readonly unknown[] & unknown[] {
  const cost = position.cost ?? decimal.multiply(position.quantity, position.averagePrice, "half-even");
  return [
    position.fundId,
    position.strategyId,
    position.symbol,
    decimal.format(position.quantity),
    decimal.format(cost),
    decimal.format(position.averagePrice),
    decimal.format(position.realisedPnl),
    position.openedBy,
    position.updatedAt,
  ];
}

function positionOf(row: PositionRow): StoredPosition {
  return {
    fundId: row.fund_id,
    strategyId: row.strategy_id,
    symbol: row.symbol,
    quantity: decimal.parse(row.quantity),
    cost: decimal.parse(row.cost),
    averagePrice: decimal.parse(row.average_price),
    realisedPnl: decimal.parse(row.realised_pnl),
    openedBy: row.opened_by,
    updatedAt: fromMicroseconds(Number(row.updated_us)),
  };
}

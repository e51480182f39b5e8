// Lists of orders and trades, newest first, page by page along their indexes.
import type pg from "pg";
import type { OmsQueries } from "../../../ports/oms-queries.ts";
import { columnOfText } from "../exact-text.ts";
import { storeFault } from "../store-fault.ts";
import { orderOfRow } from "./oms-rows.ts";

export function createOmsQueries(pool: pg.Pool): OmsQueries {
  async function ask(text: string, values: readonly unknown[]): Promise<pg.QueryResult> {
    try {
      return await pool.query({ text, values: [...values] });
    } catch (thrown) {
      throw storeFault(thrown, "a query about orders");
    }
  }

  return {
    async signals({ fundId, strategyId, status, since, idPrefix, countMax, afterSignalId }) {
      const values: unknown[] = [];
      const place = (value: unknown): string => `$${values.push(value)}`;
      const conditions = ["true"];
      if (fundId !== undefined) conditions.push(`s.fund_id = ${place(columnOfText(fundId))}`);
      if (strategyId !== undefined) conditions.push(`s.strategy_id = ${place(columnOfText(strategyId))}`);
      if (status !== undefined) conditions.push(`s.status = ${place(status)}`);
      if (since !== undefined) conditions.push(`s.received_us >= ${place(since)}`);
      if (idPrefix !== undefined) conditions.push(`starts_with(s.signal_id, ${place(columnOfText(idPrefix))})`);
      if (afterSignalId !== undefined) {
        const mark = await ask("select received_us, signal_id from oms_signal where signal_id = $1", [
          columnOfText(afterSignalId),
        ]);
        const [row] = mark.rows;
        if (row === undefined) return [];
        conditions.push(`(s.received_us, s.signal_id) < (${place(row.received_us)}, ${place(row.signal_id)})`);
      }
      // By its name and not by the content's: PostgreSQL cannot look into JSON that has a zero character anywhere.
      const text = `select s.content as signal, o.content from oms_signal s
                    left join oms_order o on o.order_id = 'tv-' || s.signal_id
                    where ${conditions.join(" and ")}
                    order by s.received_us desc, s.signal_id desc limit ${place(countMax)}`;
      return (await ask(text, values)).rows.map(({ signal, content }) => ({
        signal,
        ...(content !== null && { order: orderOfRow({ content }) }),
      }));
    },
    async orders({ fundId, openOnly, countMax, state, since, idPrefix, afterOrderId }) {
      const values: unknown[] = [];
      const place = (value: unknown): string => `$${values.push(value)}`;
      const conditions = ["true"];
      if (openOnly) conditions.push("is_open");
      if (fundId !== undefined) conditions.push(`fund_id = ${place(columnOfText(fundId))}`);
      if (state !== undefined) conditions.push(`state = ${place(state)}`);
      if (since !== undefined) conditions.push(`created_us >= ${place(since)}`);
      if (idPrefix !== undefined) conditions.push(`starts_with(order_id, ${place(columnOfText(idPrefix))})`);
      if (afterOrderId !== undefined) {
        const mark = await ask("select created_us, order_id from oms_order where order_id = $1", [
          columnOfText(afterOrderId),
        ]);
        const [row] = mark.rows;
        if (row === undefined) return [];
        conditions.push(`(created_us, order_id) < (${place(row.created_us)}, ${place(row.order_id)})`);
      }
      const text = `select content from oms_order where ${conditions.join(" and ")}
                    order by created_us desc, order_id desc limit ${place(countMax)}`;
      return (await ask(text, values)).rows.map(orderOfRow);
    },
    async fills({ fundId, orderId, idPrefix, countMax, afterFillId }) {
      const values: unknown[] = [];
      const place = (value: unknown): string => `$${values.push(value)}`;
      const conditions = ["true"];
      if (fundId !== undefined) conditions.push(`fund_id = ${place(columnOfText(fundId))}`);
      if (orderId !== undefined) conditions.push(`order_id = ${place(columnOfText(orderId))}`);
      if (idPrefix !== undefined) conditions.push(`starts_with(fill_id, ${place(columnOfText(idPrefix))})`);
      if (afterFillId !== undefined) {
        const mark = await ask("select filled_us, fill_id from oms_fill where fill_id = $1", [
          columnOfText(afterFillId),
        ]);
        const [row] = mark.rows;
        if (row === undefined) return [];
        conditions.push(`(filled_us, fill_id) < (${place(row.filled_us)}, ${place(row.fill_id)})`);
      }
      const text = `select content from oms_fill where ${conditions.join(" and ")}
                    order by filled_us desc, fill_id desc limit ${place(countMax)}`;
      return (await ask(text, values)).rows.map((row) => row.content);
    },
  };
}

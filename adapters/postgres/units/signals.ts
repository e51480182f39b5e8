// The alerts of a charting platform in a transaction.
import { Fault } from "../../../contracts/src/fault.ts";
import type { SignalRecords, StoredSignal } from "../../../ports/signal-records.ts";
import { columnOfText, textOfColumn } from "../exact-text.ts";
import type { Sql } from "../store-transaction.ts";

interface SignalRow {
  readonly content: StoredSignal;
}

export function signalRecords(sql: Sql): SignalRecords {
  const one = (rows: readonly SignalRow[]): StoredSignal | undefined => rows[0]?.content;
  return {
    async takeReceipt(fundId) {
      const taken = await sql.write({
        name: "oms_signal_receipt",
        text: `insert into oms_signal_fund as fund (fund_id, receipt) values ($1, 1)
               on conflict (fund_id) do update set receipt = fund.receipt + 1 returning receipt`,
        values: [columnOfText(fundId)],
      });
      return Number(taken.rows[0]?.receipt);
    },
    async keyHolder(fundId, idempotencyKey, at) {
      const found = await sql.read({
        name: "oms_signal_key",
        text: `select content from oms_signal
               where fund_id = $1 and idempotency_key = $2 and key_until_us >= $3 order by receipt desc limit 1`,
        values: [columnOfText(fundId), columnOfText(idempotencyKey), at],
      });
      return one(found.rows);
    },
    async insertSignal(signal) {
      const inserted = await sql.write({
        name: "oms_signal_insert",
        text: `insert into oms_signal (signal_id, fund_id, receipt, strategy_id, symbol, idempotency_key, key_until_us, status, received_us, content)
               values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict (signal_id) do nothing`,
        values: columnsOf(signal),
      });
      if (inserted.rowCount === 1) return;
      throw new Fault("STORE_CONFLICT", `the signal ${signal.signalId} exists already`, { retry: "now" });
    },
    async lockSignal(signalId) {
      const found = await sql.write({
        name: "oms_signal_lock",
        text: "select content from oms_signal where signal_id = $1 for update",
        values: [columnOfText(signalId)],
      });
      return one(found.rows);
    },
    async updateSignal(signal) {
      await sql.write({
        name: "oms_signal_update",
        text: "update oms_signal set status = $2, content = $3 where signal_id = $1",
        values: [columnOfText(signal.signalId), signal.status, JSON.stringify(signal)],
      });
    },
    async signal(signalId) {
      const found = await sql.read({
        name: "oms_signal_read",
        text: "select content from oms_signal where signal_id = $1",
        values: [columnOfText(signalId)],
      });
      return one(found.rows);
    },
    async waitingSignals(fundId) {
      const found = await sql.read({
        name: "oms_signal_waiting",
        text: "select content from oms_signal where status = 'ACCEPTED' and fund_id = $1 order by receipt",
        values: [columnOfText(fundId)],
      });
      return (found.rows as readonly SignalRow[]).map(({ content }) => content);
    },
    async waitingLanes() {
      const found = await sql.read({
        name: "oms_signal_lanes",
        text: `select distinct fund_id, symbol from oms_signal where status = 'ACCEPTED' and symbol is not null
               order by fund_id, symbol`,
      });
      return (found.rows as readonly { readonly fund_id: string; readonly symbol: string }[]).map((row) => ({
        fundId: textOfColumn(row.fund_id),
        symbol: textOfColumn(row.symbol),
      }));
    },
    async nextSignal({ fundId, symbol }) {
      const found = await sql.read({
        name: "oms_signal_next",
        text: `select content from oms_signal where status = 'ACCEPTED' and fund_id = $1 and symbol = $2
               order by receipt limit 1`,
        values: [columnOfText(fundId), columnOfText(symbol)],
      });
      return one(found.rows);
    },
    async trimSignals(before, countMax) {
      const removed = await sql.write({
        text: `delete from oms_signal where signal_id in (
                 select signal_id from oms_signal
                 where received_us < $1 and status <> 'ACCEPTED' and (key_until_us is null or key_until_us < $1)
                 order by received_us limit $2 for update skip locked)`,
        values: [before, countMax],
      });
      return removed.rowCount ?? 0;
    },
    async newestSignal(strategyId) {
      const found = await sql.read({
        name: "oms_signal_newest",
        text: `select content from oms_signal where strategy_id = $1 and fund_id <> $2
               order by received_us desc, signal_id desc limit 1`,
        values: [columnOfText(strategyId), columnOfText("")],
      });
      return one(found.rows);
    },
  };
}

function columnsOf(signal: StoredSignal): unknown[] {
  const optional = (text: string | undefined): string | null => (text === undefined ? null : columnOfText(text));
  return [
    columnOfText(signal.signalId),
    columnOfText(signal.fundId ?? ""),
    signal.receipt,
    optional(signal.strategyId),
    optional(signal.symbol),
    optional(signal.idempotencyKey),
    signal.accepted?.keyUntil ?? null,
    signal.status,
    signal.receivedAt,
    JSON.stringify(signal),
  ];
}

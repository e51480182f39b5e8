// An order as a row: the whole record as JSON, its decimals as texts, and the columns that are searched by.
import * as decimal from "../../../contracts/src/decimal.ts";
import type { OrderState } from "../../../contracts/src/records/values.ts";
import type { StoredOrder } from "../../../ports/oms-records.ts";
import { columnOfText } from "../exact-text.ts";

export interface OrderRow {
  readonly content: Omit<StoredOrder, "filledQuantity" | "filledValue"> & {
    readonly filledQuantity: string;
    readonly filledValue: string;
  };
}

const ended: ReadonlySet<OrderState> = new Set(["REJECTED", "FILLED", "CANCELLED", "EXPIRED"]);

/** order_id, idempotency_key, fund_id, state, is_open, parent_order_id, created_us, updated_us, content. */
export function columnsOfOrder(stored: StoredOrder): unknown[] {
  const { order } = stored;
  return [
    columnOfText(order.order_id),
    columnOfText(order.idempotency_key),
    columnOfText(order.fund_id),
    stored.state,
    !ended.has(stored.state),
    stored.parentOrderId === undefined ? null : columnOfText(stored.parentOrderId),
    stored.createdAt,
    stored.updatedAt,
    JSON.stringify({
      ...stored,
      filledQuantity: decimal.format(stored.filledQuantity),
      filledValue: decimal.format(stored.filledValue),
    }),
  ];
}

export function orderOfRow({ content }: OrderRow): StoredOrder {
  return {
    ...content,
    filledQuantity: decimal.parse(content.filledQuantity),
    filledValue: decimal.parse(content.filledValue),
  };
}

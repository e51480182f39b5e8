// The paper broker's orders, reports and positions as they stand in the database: decimals as text, so that nothing is rounded on the way.
import * as decimal from "../../contracts/src/decimal.ts";
import { fromMicroseconds } from "../../contracts/src/instant.ts";
import type { PaperReport } from "../../core/paper/paper-broker.ts";
import type { PaperExecution, PaperOrder } from "../../core/paper/paper-matching.ts";
import type { PaperPosition } from "../../core/paper/paper-positions.ts";

type Decimal = decimal.Decimal;

/** The same, with every decimal as its text; instants are whole numbers already. */
type Stored<Record> = {
  readonly [Key in keyof Record]: Record[Key] extends Decimal
    ? string
    : Record[Key] extends Decimal | undefined
      ? string
      : Record[Key];
};

export type StoredOrder = Stored<PaperOrder>;
interface StoredReport {
  readonly cursor: number;
  readonly order: StoredOrder;
  readonly execution?: Stored<PaperExecution>;
  readonly at: number;
}

export function storedOrder(order: PaperOrder): StoredOrder {
  const { quantity, filledQuantity, limitPrice, stopPrice, ...rest } = order;
  return {
    ...rest,
    quantity: decimal.format(quantity),
    filledQuantity: decimal.format(filledQuantity),
    ...(limitPrice !== undefined && { limitPrice: decimal.format(limitPrice) }),
    ...(stopPrice !== undefined && { stopPrice: decimal.format(stopPrice) }),
  };
}

export function orderOf(stored: StoredOrder): PaperOrder {
  const { quantity, filledQuantity, limitPrice, stopPrice, ...rest } = stored;
  return {
    ...rest,
    quantity: decimal.parse(quantity),
    filledQuantity: decimal.parse(filledQuantity),
    ...(limitPrice !== undefined && { limitPrice: decimal.parse(limitPrice) }),
    ...(stopPrice !== undefined && { stopPrice: decimal.parse(stopPrice) }),
  };
}

export function storedReport({ cursor, order, execution, at }: PaperReport): StoredReport {
  if (execution === undefined) return { cursor, order: storedOrder(order), at };
  const { quantity, price, fee, ...rest } = execution;
  const amounts = { quantity: decimal.format(quantity), price: decimal.format(price), fee: decimal.format(fee) };
  return { cursor, order: storedOrder(order), at, execution: { ...rest, ...amounts } };
}

export function reportOf({ cursor, order, execution, at }: StoredReport): PaperReport {
  const common = { cursor, order: orderOf(order), at: fromMicroseconds(at) };
  if (execution === undefined) return common;
  const { quantity, price, fee, ...rest } = execution;
  const amounts = { quantity: decimal.parse(quantity), price: decimal.parse(price), fee: decimal.parse(fee) };
  return { ...common, execution: { ...rest, ...amounts } };
}

/** As a row of paper_position has it. */
export interface StoredPosition {
  readonly account: string;
  readonly symbol: string;
  readonly quantity: string;
  readonly average_price: string;
}

export function storedPosition({ account, symbol, quantity, averagePrice }: PaperPosition): StoredPosition {
  return { account, symbol, quantity: decimal.format(quantity), average_price: decimal.format(averagePrice) };
}

export function positionOf(row: StoredPosition): PaperPosition {
  return {
    account: row.account,
    symbol: row.symbol,
    quantity: decimal.parse(row.quantity),
    averagePrice: decimal.parse(row.average_price),
  };
}

// An order's numbers, read before anybody knows whether it is an order at all: whoever classifies and values it needs them, and the
// schema gate says which of them could not be read. Nothing here throws; what makes no sense is left undefined.
import * as decimal from "../../contracts/src/decimal.ts";
import type { Order } from "../../contracts/src/generated/svc/v1/order.ts";
import { type Amount, amountOf, isPositive, readAmount } from "../money/amount.ts";
import { digitsMax, plainOf } from "../money/plain.ts";
import type { Terms } from "./view.ts";

export function noTerms(): Terms {
  return { direction: 0, quantity: undefined, limitPrice: undefined, stopPrice: undefined, notional: undefined };
}

/** Fills the terms anew from the order, so that one object serves every check. */
export function readTerms(order: Order, terms: Terms): void {
  terms.direction = directionOf(order.side);
  terms.quantity = aboveZero(order.quantity);
  terms.limitPrice = aboveZero(order.limit_price);
  terms.stopPrice = aboveZero(order.stop_price);
  terms.notional = notionalOf(order.notional);
}

/** 1 buys, -1 sells, 0 is no side that we know. */
export function directionOf(side: string): 1 | -1 | 0 {
  switch (side) {
    case "BUY":
    case "BUY_TO_COVER":
      return 1;
    case "SELL":
    case "SELL_SHORT":
      return -1;
    default:
      return 0;
  }
}

/** A message made from JSON may hold anything, so the type is checked and not believed. */
function aboveZero(text: unknown): Amount | undefined {
  if (typeof text !== "string") return undefined;
  const value = readAmount(text);
  return value !== undefined && isPositive(value) ? value : undefined;
}

function notionalOf(value: unknown): Amount | undefined {
  if (typeof value !== "number" || !(value >= 0) || Object.is(value, -0)) return undefined;
  // Whole numbers are the common case, and need no text in between.
  if (Number.isInteger(value) && value <= digitsMax) return plainOf(value, 0);
  try {
    return amountOf(decimal.fromNumber(value));
  } catch (thrown) {
    if (thrown instanceof decimal.DecimalError) return undefined;
    throw thrown;
  }
}

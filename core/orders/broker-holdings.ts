// Which broker has how much of a fund's position, by the fills that made it: an exit is let through to the broker that holds what it closes although the
// fund may trade there no more, and to no other, where it would open something new.
import type { Fill } from "../../contracts/src/records/order.ts";
import { type Amount, isNothing, negated, nothing, parseAmount, plus } from "../money/amount.ts";
import type { Books, Place } from "../state/records.ts";
import { directionOf } from "../state/terms.ts";

function keyOf({ fund_id, symbol, broker }: Place): string {
  return `${fund_id}\n${symbol}\n${broker}`;
}

export function heldAt({ brokers }: Books, place: Place): Amount {
  return brokers.get(keyOf(place))?.quantity ?? nothing;
}

type Held = Pick<Fill, "fund_id" | "symbol" | "broker" | "quantity" | "side">;

/** A fill that names no broker is of the one that its order went to; where that is not known either, no exit finds it. Gives the broker. */
export function noteBroker(books: Books, fill: Held, ordersBroker: string | undefined): string {
  const { fund_id, symbol, broker = ordersBroker ?? "" } = fill;
  const quantity = parseAmount(fill.quantity);
  addHolding(books, { fund_id, symbol, broker }, directionOf(fill.side) === 1 ? quantity : negated(quantity));
  return broker;
}

export function addHolding(books: Books, place: Place, change: Amount): void {
  const key = keyOf(place);
  const quantity = plus(heldAt(books, place), change);
  if (isNothing(quantity)) books.brokers.delete(key);
  else
    books.brokers.set(key, { place: { fund_id: place.fund_id, symbol: place.symbol, broker: place.broker }, quantity });
}

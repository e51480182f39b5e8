// The books of a world, for whoever values its funds: every fill that was believed, and beside it only those of the desk itself. Exact decimals.
import * as decimal from "../../contracts/src/decimal.ts";
import type { Fill } from "../../contracts/src/records/order.ts";
import { buys } from "../history.ts";

interface Holdings {
  cash: decimal.Decimal;
  /** Deposits less withdrawals. */
  flows: decimal.Decimal;
  readonly positions: Map<string, decimal.Decimal>;
}

export interface Account {
  readonly all: Holdings;
  /** Without what others reported. */
  readonly own: Holdings;
}

export interface Ledger {
  book(fill: Fill, by: string): void;
  /** Of a fill that is not booked nothing is taken back. */
  bust(fillId: string): void;
  withdrew(fundId: string, amount: decimal.Decimal): void;
  price(symbol: string, price: string): void;
  /** As the desk has it, whatever others say of it. */
  ownPrice(symbol: string, price: string): void;
  priceOf(symbol: string, isOwn: boolean): decimal.Decimal | undefined;
  account(fundId: string): Account;
}

/** Whose fills are the desk's own. */
const deskName = "desk-oms";

export function booksOf(funds: readonly { readonly fundId: string; readonly capital: string }[]): Ledger {
  const holdings = (capital: string): Holdings => ({
    cash: decimal.parse(capital),
    flows: decimal.parse(capital),
    positions: new Map(),
  });
  const accounts = new Map(
    funds.map(({ fundId, capital }) => [fundId, { all: holdings(capital), own: holdings(capital) }]),
  );
  const prices = new Map<string, decimal.Decimal>();
  const ownPrices = new Map<string, decimal.Decimal>();
  const booked = new Map<string, { readonly fill: Fill; readonly by: string }>();

  function move(fill: Fill, by: string, sign: 1n | -1n): void {
    const { all, own } = accountOf(fill.fund_id);
    const quantity = decimal.parse(fill.quantity);
    const signed = (buys(fill.side) ? sign * quantity : -sign * quantity) as decimal.Decimal;
    const paid = decimal.multiply(signed, decimal.parse(fill.price), "half-even");
    const fee = (sign * decimal.parse(fill.fee ?? "0")) as decimal.Decimal;
    for (const books of by === deskName ? [all, own] : [all]) {
      books.cash = decimal.subtract(decimal.subtract(books.cash, paid), fee);
      books.positions.set(fill.symbol, decimal.add(books.positions.get(fill.symbol) ?? decimal.zero, signed));
    }
  }

  function accountOf(fundId: string): Account {
    const account = accounts.get(fundId);
    if (account === undefined) throw new Error(`there are no books of ${fundId}`);
    return account;
  }

  return {
    book(fill, by) {
      if (booked.has(fill.fill_id)) return;
      booked.set(fill.fill_id, { fill, by });
      move(fill, by, 1n);
    },
    bust(fillId) {
      const found = booked.get(fillId);
      if (found === undefined) return;
      booked.delete(fillId);
      move(found.fill, found.by, -1n);
    },
    withdrew(fundId, amount) {
      const { all, own } = accountOf(fundId);
      for (const books of [all, own]) {
        books.cash = decimal.subtract(books.cash, amount);
        books.flows = decimal.subtract(books.flows, amount);
      }
    },
    price(symbol, price) {
      prices.set(symbol, decimal.parse(price));
    },
    ownPrice(symbol, price) {
      ownPrices.set(symbol, decimal.parse(price));
    },
    priceOf: (symbol, isOwn) => (isOwn ? ownPrices : prices).get(symbol),
    account: accountOf,
  };
}

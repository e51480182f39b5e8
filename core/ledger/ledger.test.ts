// The ledger's invariants by their numbers, over random lives of a fund.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import { fromMicroseconds } from "../../contracts/src/instant.ts";
import type { LedgerEntry } from "../../contracts/src/records/ledger.ts";
import type { Fill } from "../../contracts/src/records/order.ts";
import { exampleFill } from "../../testkit/record-examples.ts";
import {
  borrowFeeEntry,
  borrowFeeOfDay,
  capitalEntry,
  cost,
  fillEntry,
  flowEntry,
  imbalanceOf,
  movesOf,
  positionAccount,
  sharesOf,
} from "./ledger.ts";
import { signedQuantity } from "./position.ts";

const seed = 20_261_115;
const at = fromMicroseconds(1_000_000);
const booked = { entryId: "e-1", bookedBy: "service:treasury" };
const usd = decimal.parse;
const instruments = {
  AAPL: { currency: "USD", multiplier: "1" },
  "SPY 281215C00650000": { currency: "USD", multiplier: "100" },
  SAP: { currency: "EUR", multiplier: "1" },
} as const;
type SymbolName = keyof typeof instruments;

const decimals = (places: number, max: number) =>
  fc
    .bigInt({ min: 1n, max: BigInt(max) * 10n ** BigInt(places) })
    .map((count) => (count * 10n ** BigInt(18 - places)) as decimal.Decimal);
const signed = (places: number, max: number) =>
  fc
    .tuple(decimals(places, max), fc.boolean())
    .map(([value, isNegative]) => (isNegative ? decimal.negate(value) : value));

const fills: fc.Arbitrary<Fill> = fc
  .record({
    symbol: fc.constantFrom(...(Object.keys(instruments) as SymbolName[])),
    side: fc.constantFrom("BUY", "SELL", "SELL_SHORT", "BUY_TO_COVER"),
    quantity: decimals(5, 10_000).map(decimal.format),
    price: signed(8, 100_000).map(decimal.format),
    fee: fc.option(signed(4, 100).map(decimal.format), { nil: undefined }),
    currency: fc.option(fc.constantFrom("USD", "EUR", "USDT"), { nil: undefined }),
  })
  .map(({ fee, currency, ...rest }) => {
    const { fee: _fee, currency: _currency, ...example } = exampleFill;
    return { ...example, ...rest, ...(fee !== undefined && { fee }), ...(currency !== undefined && { currency }) };
  });

const money = fc.record({ currency: fc.constantFrom("USD", "EUR"), amount: signed(6, 1_000_000) });
const common = { ...booked, fundId: "alpha", at, reason: "r" };
const entries: fc.Arbitrary<LedgerEntry> = fc.oneof(
  fills.map((fill) => fillEntry(fill, instruments[fill.symbol as SymbolName], booked)),
  money.map((moved) => flowEntry({ ...common, ...moved })),
  money.map((moved) => capitalEntry({ ...common, ...moved })),
  money.map((moved) => borrowFeeEntry({ ...common, ...moved, strategyId: "s", symbol: "AAPL" })),
);

function sums(pairs: readonly (readonly [string, decimal.Decimal])[]): Map<string, decimal.Decimal> {
  const found = new Map<string, decimal.Decimal>();
  for (const [key, amount] of pairs) found.set(key, decimal.add(found.get(key) ?? decimal.zero, amount));
  for (const [key, amount] of found) if (amount === decimal.zero) found.delete(key);
  return found;
}

const sortedSums = (pairs: readonly (readonly [string, decimal.Decimal])[]) => [...sums(pairs)].sort();

describe(`the ledger, seed ${seed}`, () => {
  it("keeps every entry in balance (1), and cash and holdings as the sums of postings and fills (2)", () => {
    fc.assert(
      fc.property(fc.array(entries, { maxLength: 40 }), (life) => {
        expect(life.map(({ postings }) => imbalanceOf(postings)).find((wrong) => wrong !== undefined)).toBeUndefined();
        const held = sortedSums(life.flatMap(movesOf).map(({ symbol, quantity }) => [symbol, quantity] as const));
        const cash = life
          .flatMap(({ postings }) => postings)
          .filter(({ account }) => account === "cash")
          .map(({ currency, amount }) => [currency, amount] as const);
        const traded = life.flatMap(({ kind, symbol, quantity }) =>
          kind === "FILL" ? [[symbol ?? "", quantity ?? decimal.zero] as const] : [],
        );
        expect(held).toEqual(sortedSums([...cash, ...traded]));
        expect(
          sortedSums(
            [...life]
              .reverse()
              .flatMap(movesOf)
              .map((move) => [move.symbol, move.quantity]),
          ),
        ).toEqual(held);
      }),
      { seed, numRuns: 100 },
    );
  });

  it("has in a position's account what was paid less what was received (3)", () => {
    fc.assert(
      fc.property(fc.array(fills, { maxLength: 30 }), (trades) => {
        const life = trades.map((fill) => fillEntry(fill, instruments[fill.symbol as SymbolName], booked));
        const balances = sums(
          life.flatMap(({ postings }) => postings.map(({ account, amount }) => [account, amount] as const)),
        );
        for (const symbol of Object.keys(instruments) as SymbolName[]) {
          const paid = trades
            .filter((fill) => fill.symbol === symbol)
            .map(({ side, quantity, price }) =>
              cost(signedQuantity(side, usd(quantity)), instruments[symbol].multiplier, usd(price)),
            );
          const expected = paid.reduce<decimal.Decimal>(decimal.add, decimal.zero);
          expect(balances.get(positionAccount(symbol)) ?? decimal.zero).toBe(expected);
        }
      }),
      { seed, numRuns: 60 },
    );
  });

  it("posts a trade and its fee by the book", () => {
    const fill: Fill = {
      ...exampleFill,
      symbol: "AAPL",
      side: "SELL",
      quantity: "10",
      price: "230.01",
      fee: "1.5",
      currency: "EUR",
    };
    const entry = fillEntry(fill, instruments.AAPL, booked);
    expect(entry.postings.map(({ account, currency, amount }) => [account, currency, decimal.format(amount)])).toEqual([
      ["cash", "USD", "2300.1"],
      ["position:AAPL", "USD", "-2300.1"],
      ["cash", "EUR", "-1.5"],
      ["fees", "EUR", "1.5"],
    ]);
    expect(movesOf(entry)).toEqual([
      { symbol: "AAPL", quantity: usd("-10") },
      { symbol: "EUR", quantity: usd("-1.5") },
      { symbol: "USD", quantity: usd("2300.1") },
    ]);
    expect(entry).toMatchObject({ kind: "FILL", strategyId: fill.strategy_id, reason: "SELL 10 AAPL at 230.01" });
  });

  it("credits what a fund was given and debits what it paid", () => {
    const of = (entry: LedgerEntry) =>
      entry.postings.map(({ account, amount }) => `${account} ${decimal.format(amount)}`);
    const moved = { ...common, currency: "USD", amount: usd("5") };
    expect(of(capitalEntry(moved))).toEqual(["capital -5", "cash 5"]);
    expect(of(flowEntry({ ...moved, amount: usd("-5") }))).toEqual(["flows 5", "cash -5"]);
    expect(of(borrowFeeEntry({ ...moved, strategyId: "s", symbol: "AAPL" }))).toEqual(["cash -5", "borrow_fees 5"]);
  });

  it("tells the currency that is out of balance", () => {
    const posting = { account: "cash", currency: "USD", amount: decimal.one };
    expect(imbalanceOf([posting])).toEqual({ currency: "USD", sum: decimal.one });
    expect(imbalanceOf([posting, { ...posting, currency: "EUR", amount: decimal.negate(decimal.one) }])).toBeDefined();
    expect(imbalanceOf([])).toBeUndefined();
  });

  it("charges a 365th of the yearly fee, in cents, whichever way the position points", () => {
    expect(decimal.format(borrowFeeOfDay(usd("-36500"), usd("0.0025")))).toBe("0.25");
    expect(decimal.format(borrowFeeOfDay(usd("36500"), usd("-0.01")))).toBe("-1");
    expect(decimal.format(borrowFeeOfDay(usd("-100"), usd("0.0025")))).toBe("0");
    expect(decimal.format(borrowFeeOfDay(usd("-730"), usd("0.0025")))).toBe("0.01");
  });

  it("shares a fee without losing a cent (4)", () => {
    fc.assert(
      fc.property(signed(2, 10_000), fc.array(decimals(5, 1_000), { minLength: 1, maxLength: 8 }), (fee, weights) => {
        const shares = sharesOf(fee, weights);
        expect(shares).toHaveLength(weights.length);
        expect(shares.reduce<decimal.Decimal>(decimal.add, decimal.zero)).toBe(fee);
        const isWrong = (share: decimal.Decimal) => share !== 0n && decimal.sign(share) !== decimal.sign(fee);
        expect(shares.filter(isWrong)).toEqual([]);
      }),
      { seed, numRuns: 100 },
    );
  });
});

// The sums of the ledger made anew: what any life of a fund keeps along the way, and what puts damage right. The numbers are those of ledger-rebuild.ts.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import { fromMicroseconds } from "../../contracts/src/instant.ts";
import type { LedgerEntry } from "../../contracts/src/records/ledger.ts";
import { exampleFill } from "../../testkit/record-examples.ts";
import { borrowFeeEntry, capitalEntry, dividendEntry, fillEntry, flowEntry, movesOf } from "./ledger.ts";
import { addUp, correctionsOf, differencesOf, type Sums } from "./ledger-rebuild.ts";

const seed = 20_261_117;
const at = fromMicroseconds(1_000_000);
const common = { entryId: "e", bookedBy: "service:treasury", fundId: "alpha", at, reason: "r" };
const amounts = fc
  .bigInt({ min: -1_000_000_000n, max: 1_000_000_000n })
  .map((count) => (count * 10n ** 12n) as decimal.Decimal);
const money = fc.record({ currency: fc.constantFrom("USD", "EUR"), amount: amounts });
const ofStrategy = money.chain((moved) =>
  fc.constantFrom("one", "two").map((strategyId) => ({ ...common, ...moved, strategyId, symbol: "AAPL" })),
);
const fills = fc
  .record({
    symbol: fc.constantFrom("AAPL", "SPY 281215C00650000"),
    strategy_id: fc.constantFrom("one", "two"),
    side: fc.constantFrom("BUY", "SELL", "SELL_SHORT", "BUY_TO_COVER"),
    quantity: amounts.filter((amount) => amount > 0n).map(decimal.format),
    price: amounts.map(decimal.format),
    fee: amounts.map(decimal.format),
  } as const)
  .map((differs) =>
    fillEntry(
      { ...exampleFill, ...differs },
      { currency: "USD", multiplier: differs.symbol === "AAPL" ? "1" : "100" },
      common,
    ),
  );
const entries: fc.Arbitrary<LedgerEntry> = fc.oneof(
  fills,
  money.map((moved) => flowEntry({ ...common, ...moved })),
  money.map((moved) => capitalEntry({ ...common, ...moved })),
  ofStrategy.map(borrowFeeEntry),
  ofStrategy.map(dividendEntry),
);

/** As a store keeps it: each entry by itself, one after the other. */
function bookOneByOne(life: readonly LedgerEntry[]): Sums {
  const kept = { balances: new Map(), holdings: new Map(), made: new Map() } as Record<string, Map<string, bigint>>;
  const add = (table: string, key: string, amount: bigint) =>
    kept[table]?.set(key, (kept[table]?.get(key) ?? 0n) + amount);
  for (const entry of life) {
    for (const { account, currency, amount } of entry.postings) add("balances", `${account}|${currency}`, amount);
    for (const { symbol, quantity } of movesOf(entry)) {
      add("holdings", symbol, quantity);
      if (entry.strategyId !== undefined) add("made", `${entry.strategyId}|${symbol}`, quantity);
    }
  }
  const rows = (table: string) =>
    [...(kept[table] ?? [])]
      .filter(([, amount]) => amount !== 0n)
      .map(([key, amount]) => [key.split("|"), amount as decimal.Decimal] as const);
  return {
    balances: rows("balances").map(([[account = "", currency = ""], amount]) => ({ account, currency, amount })),
    holdings: rows("holdings").map(([[symbol = ""], quantity]) => ({ symbol, quantity })),
    strategyHoldings: rows("made").map(([[strategyId = "", symbol = ""], quantity]) => ({
      strategyId,
      symbol,
      quantity,
    })),
  };
}

describe(`23.5: the ledger's sums made anew, seed ${seed}`, () => {
  it("1: are what any sequence of trades, flows, fees and dividends kept, in whichever order it was booked", () => {
    fc.assert(
      fc.property(fc.array(entries, { maxLength: 40 }), fc.nat(), (life, turn) => {
        const turned = [...life.slice(turn % (life.length + 1)), ...life.slice(0, turn % (life.length + 1))];
        expect(differencesOf(addUp(life), bookOneByOne(turned))).toEqual([]);
      }),
      { seed, numRuns: 100 },
    );
  });

  it("2: put right whatever was changed, and show what it was", () => {
    const damage = fc.record({ table: fc.nat(2), row: fc.nat(), by: amounts.filter((amount) => amount !== 0n) });
    fc.assert(
      fc.property(fc.array(entries, { maxLength: 20 }), fc.array(damage, { maxLength: 5 }), (life, damages) => {
        const right = addUp(life);
        let kept = bookOneByOne(life);
        for (const { table, row, by } of damages) kept = damaged(kept, table, row, by);
        const differences = differencesOf(right, kept);
        const again = differencesOf(right, sumOf(kept, correctionsOf(differences)));
        expect(again).toEqual([]);
        for (const one of differences) expect(one.kept).not.toBe(one.rebuilt);
      }),
      { seed, numRuns: 100 },
    );
  });

  it("names a row that should not be there, one that is missing, and one that is wrong", () => {
    const life = [
      fillEntry(
        { ...exampleFill, symbol: "AAPL", strategy_id: "one", side: "BUY", quantity: "5", price: "2", fee: "0" },
        { currency: "USD", multiplier: "1" },
        common,
      ),
    ];
    const kept: Sums = {
      balances: addUp(life).balances,
      holdings: [
        { symbol: "AAPL", quantity: decimal.parse("6") },
        { symbol: "MSFT", quantity: decimal.parse("1") },
        { symbol: "USD", quantity: decimal.parse("-10") },
      ],
      strategyHoldings: [{ strategyId: "one", symbol: "AAPL", quantity: decimal.parse("5") }],
    };
    expect(differencesOf(addUp(life), kept)).toEqual([
      { record: "HOLDING", symbol: "AAPL", kept: decimal.parse("6"), rebuilt: decimal.parse("5") },
      { record: "HOLDING", symbol: "MSFT", kept: decimal.parse("1"), rebuilt: decimal.zero },
      {
        record: "STRATEGY_HOLDING",
        strategyId: "one",
        symbol: "USD",
        kept: decimal.zero,
        rebuilt: decimal.parse("-10"),
      },
    ]);
  });
});

function damaged(sums: Sums, table: number, row: number, by: decimal.Decimal): Sums {
  const changed = <Row extends object>(rows: readonly Row[], field: keyof Row): readonly Row[] =>
    rows.map((one, index) =>
      index === row % rows.length ? { ...one, [field]: decimal.add(one[field] as decimal.Decimal, by) } : one,
    );
  if (table === 0) return { ...sums, balances: changed(sums.balances, "amount") };
  if (table === 1) return { ...sums, holdings: changed(sums.holdings, "quantity") };
  return { ...sums, strategyHoldings: changed(sums.strategyHoldings, "quantity") };
}

function sumOf(one: Sums, other: Sums): Sums {
  const added = <Row extends object>(rows: readonly Row[], more: readonly Row[], field: keyof Row): readonly Row[] => {
    const keyOf = (row: Row) => JSON.stringify({ ...row, [field]: "" });
    const found = new Map(rows.map((row) => [keyOf(row), row]));
    for (const row of more) {
      const before = found.get(keyOf(row))?.[field] ?? decimal.zero;
      found.set(keyOf(row), { ...row, [field]: decimal.add(before as decimal.Decimal, row[field] as decimal.Decimal) });
    }
    return [...found.values()];
  };
  return {
    balances: added(one.balances, other.balances, "amount"),
    holdings: added(one.holdings, other.holdings, "quantity"),
    strategyHoldings: added(one.strategyHoldings, other.strategyHoldings, "quantity"),
  };
}

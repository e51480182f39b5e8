// The suite that every store passes with the quotes that order management keeps: ports/quote-records.ts.
import { expect, it } from "vitest";
import { fromMicroseconds } from "../../contracts/src/instant.ts";
import type { KeptQuote, QuoteMoment } from "../../ports/quote-records.ts";
import type { Store, UnitOfWork } from "../../ports/store.ts";

export interface QuoteFixture {
  readonly store: Store;
  close(): Promise<void>;
}

const second = (count: number) => fromMicroseconds(1_700_000_000_000_000 + count * 1_000_000);
const quoteOf = (id: string, moment: QuoteMoment, bid: string): KeptQuote => ({
  id,
  moment,
  fundId: "alpha",
  symbol: "AAPL",
  wantedAt: second(2),
  quote: { bid, ask: "230.10", at: second(1) },
});
const byMoment = (one: KeptQuote, other: KeptQuote): number => (one.moment < other.moment ? -1 : 1);

export function quoteConformance(name: string, open: () => Promise<QuoteFixture>): void {
  const withStore = async (
    run: (doing: <T>(work: (unit: UnitOfWork) => Promise<T>) => Promise<T>) => Promise<void>,
  ) => {
    const { store, close } = await open();
    try {
      await run((work) => store.transact("conformance.quotes", work));
    } finally {
      await close();
    }
  };

  it(`kept quotes, ${name}: come back as they were, to the last digit, and the first of a moment stays`, () =>
    withStore(async (doing) => {
      const created = quoteOf("o-\u0000/1", "CREATED", "230.00");
      const missing: KeptQuote = { ...created, moment: "ROUTED", quote: undefined };
      await doing(async (unit) => {
        await unit.quotes.keepQuote(created);
        await unit.quotes.keepQuote(missing);
        await unit.quotes.keepQuote(quoteOf("o-2", "CREATED", "1"));
      });
      await doing((unit) => unit.quotes.keepQuote(quoteOf(created.id, "CREATED", "9")));
      const found = await doing((unit) => unit.quotes.quotesOf([created.id, "o-3"]));
      expect([...found].sort(byMoment)).toEqual([created, missing]);
    }));

  it(`kept quotes, ${name}: what is due is listed earliest first until it is taken`, () =>
    withStore(async (doing) => {
      const due = (fillId: string, at: number) => ({ fillId, fundId: "alpha", symbol: "AAPL", dueAt: second(at) });
      await doing(async (unit) => {
        for (const one of [due("f-2", 20), due("f-3", 30), due("f-1", 10), due("f-1", 40)])
          await unit.quotes.addDue(one);
      });
      expect(await doing((unit) => unit.quotes.earliestDue(2))).toEqual([due("f-1", 10), due("f-2", 20)]);
      await doing((unit) => unit.quotes.takeDue(["f-1", "f-2"]));
      expect(await doing((unit) => unit.quotes.earliestDue(2))).toEqual([due("f-3", 30)]);
    }));
}

// The quotes that order management kept, in a transaction of the memory store.
import type { DueQuote, KeptQuote, QuoteRecords } from "../../../ports/quote-records.ts";
import type { RecordTools } from "../layered-map.ts";

export interface QuoteTables {
  readonly quotes: Map<string, KeptQuote>;
  readonly due: Map<string, DueQuote>;
}

export function quoteTables(): QuoteTables {
  return { quotes: new Map(), due: new Map() };
}

const moments = ["CREATED", "ROUTED", "FILLED", "AFTER_300S"] as const;
const nameOf = (id: string, moment: string): string => `${moment} ${id}`;
const earliestFirst = (one: DueQuote, other: DueQuote): number =>
  one.dueAt - other.dueAt || (one.fillId < other.fillId ? -1 : 1);

export function quoteChanges(tables: QuoteTables, { inTurn, table }: RecordTools): QuoteRecords {
  const quotes = table("oms_quote", tables.quotes);
  const due = table("oms_quote_due", tables.due);
  return {
    keepQuote: (quote) =>
      inTurn(async () => {
        const name = nameOf(quote.id, quote.moment);
        if (!quotes.has(name)) quotes.set(name, quote);
      }),
    quotesOf: (ids) =>
      inTurn(async () => ids.flatMap((id) => moments.flatMap((moment) => quotes.get(nameOf(id, moment)) ?? []))),
    addDue: (one) =>
      inTurn(async () => {
        if (!due.has(one.fillId)) due.set(one.fillId, one);
      }),
    earliestDue: (countMax) => inTurn(async () => due.sorted().sort(earliestFirst).slice(0, countMax)),
    takeDue: (fillIds) =>
      inTurn(async () => {
        for (const fillId of fillIds) due.delete(fillId);
      }),
  };
}

// Prices and news over HTTP, for operators and, without a login, for the public.
import { z } from "zod";
import type { ListBarsRequest } from "../../../contracts/src/generated/svc/v1/marketdesk.ts";
import { tryParse, tryParseDate } from "../../../contracts/src/instant.ts";
import { symbolText } from "../../../contracts/src/records/fields.ts";
import { bar, barInterval, newsItem, quote } from "../../../contracts/src/records/market.ts";
import { decimalAsked, wholeAsked } from "./asked-numbers.ts";

export const symbolParams = z.strictObject({
  symbol: symbolText.meta({ description: "The instrument: AAPL, BTC-USD." }),
});

const symbolsAsked = z
  .string()
  .max(4_096)
  .regex(/^[A-Z0-9][A-Z0-9 ._:/-]{0,63}(,[A-Z0-9][A-Z0-9 ._:/-]{0,63})*$/, {
    message: "expected symbols in capitals with commas between them",
  });

export const quotesQuery = z.strictObject({
  symbols: symbolsAsked.optional().meta({ description: "Only these, with commas between them; all when absent." }),
});

export const quoteAnswer = quote;
export const quotesAnswer = z.array(quote);

/** How many bars are told at once. */
export const barsMax = 1_000;
export const barsDefault = 500;

const startAsked = z
  .string()
  .refine((text) => tryParse(text) !== undefined || tryParseDate(text) !== undefined, {
    message: "expected a date such as 2026-11-15, or a time such as 2026-11-15T13:30:00Z",
  })
  .optional()
  .meta({ description: "The first bar begins at or after this date or time; the newest bars when absent." });

export const barsQuery = z.strictObject({
  interval: barInterval.optional().meta({ description: "1d when absent." }),
  start: startAsked,
  count_max: wholeAsked(1, barsMax)
    .optional()
    .meta({ description: `At most this many; ${barsDefault} when absent.` }),
});
export type BarsQuery = z.infer<typeof barsQuery>;

export const barsAnswer = z
  .array(bar)
  .meta({ description: "Oldest first; `start` is the first moment that a bar covers." });

export const newsQuery = z.strictObject({
  symbol: symbolText.optional().meta({ description: "Only about this; about everything when absent." }),
  hours: decimalAsked(24 * 366)
    .optional()
    .meta({ description: "How far back, in hours; 24 when absent." }),
  count_max: wholeAsked(1, 1_000).optional().meta({ description: "At most this many; 100 when absent." }),
});

export const newsAnswer = z.array(newsItem).meta({ description: "Newest first." });

/** The question to the desk, with what was not said filled in. */
export function barsMessage(symbol: string, { interval, start, count_max }: BarsQuery): ListBarsRequest {
  return { symbol, interval: interval ?? "1d", start, count_max: count_max ?? barsDefault };
}

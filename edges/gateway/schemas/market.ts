// Prices and news over HTTP, for operators and, without a login, for the public.
import { z } from "zod";
import type { Quote } from "../../../contracts/src/generated/svc/v1/market.ts";
import type { ListBarsRequest } from "../../../contracts/src/generated/svc/v1/marketdesk.ts";
import { type Instant, millisecondsBetween, tryParse, tryParseDate } from "../../../contracts/src/instant.ts";
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

export const quoteAnswer = quote.extend({
  age_s: z
    .int()
    .meta({ description: "How old it is, in whole seconds: a symbol that is not quoted any more keeps its last one." }),
});
export const quotesAnswer = z.array(quoteAnswer);

export function toldQuote(one: Quote, now: Instant): object {
  const at = tryParse(one.quoted_at);
  return { ...one, age_s: at === undefined ? 0 : Math.max(0, Math.floor(millisecondsBetween(at, now) / 1_000)) };
}

/** How many bars are told at once. */
export const barsMax = 1_000;
export const barsDefault = 500;

const momentAsked = z
  .string()
  .refine((text) => tryParse(text) !== undefined || tryParseDate(text) !== undefined, {
    message: "expected a date such as 2026-11-15, or a time such as 2026-11-15T13:30:00Z",
  })
  .optional();

export const barsQuery = z.strictObject({
  interval: barInterval.optional().meta({ description: "1d when absent." }),
  start: momentAsked.meta({
    description: "The first bar begins at or after this date or time; the newest bars before `end` when absent.",
  }),
  end: momentAsked.meta({ description: "Only bars that begin before this date or time; up to now when absent." }),
  count_max: wholeAsked(1, barsMax)
    .optional()
    .meta({ description: `At most this many, ${barsDefault} when absent; the next page is in the Link header.` }),
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
export function barsMessage(symbol: string, { interval, start, end, count_max }: BarsQuery): ListBarsRequest {
  return { symbol, interval: interval ?? "1d", start, end, count_max: count_max ?? barsDefault };
}

/** The header that names the next page (RFC 8288): the same question, from where this page ends. */
export function nextBars(
  path: string,
  query: BarsQuery,
  nextStart: string | undefined,
): { readonly link: string } | undefined {
  if (nextStart === undefined) return undefined;
  const asked = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...query, start: nextStart })) {
    if (value !== undefined) asked.set(name, String(value));
  }
  return { link: `<${path}?${asked}>; rel="next"` };
}

// Prices over HTTP, for operators and, without a login, for the public.
import { z } from "zod";
import type { Quote } from "../../../contracts/src/generated/svc/v1/market.ts";
import { type Instant, millisecondsBetween, tryParse } from "../../../contracts/src/instant.ts";
import { symbolText } from "../../../contracts/src/records/fields.ts";
import { quote } from "../../../contracts/src/records/market.ts";
import { publicHalt } from "../../../contracts/src/stream-frames.ts";

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

const publicSymbolsMax = 100;

export const publicQuotesQuery = z.strictObject({
  symbols: symbolsAsked
    .refine((text) => text.split(",").length <= publicSymbolsMax, { message: "expected at most 100 symbols" })
    .meta({ description: "Which, with commas between them; at most 100." }),
});

export const publicHaltsAnswer = z.array(publicHalt);

/** A quote of that age is no longer one to act on. */
const staleQuoteS = 10;

export const quoteAnswer = quote
  .extend({
    age_s: z.int().meta({
      description: "How old it is, in whole seconds: a symbol that is not quoted any more keeps its last one.",
    }),
    stale: z.boolean().meta({ description: "It is 10 seconds old or older." }),
  })
  .meta({ id: "Quote" });
export const quotesAnswer = z.array(quoteAnswer);

export function quoteBody(one: Quote, now: Instant): object {
  const at = tryParse(one.quoted_at);
  const ageS = at === undefined ? 0 : Math.max(0, Math.floor(millisecondsBetween(at, now) / 1_000));
  return { ...one, age_s: ageS, stale: ageS >= staleQuoteS };
}

/** The header that names the next page (RFC 8288): the same question, from where this page ends. */
export function nextBars(
  path: string,
  query: object,
  nextStart: string | undefined,
): { readonly link: string } | undefined {
  if (nextStart === undefined) return undefined;
  const asked = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...query, start: nextStart })) {
    if (value !== undefined) asked.set(name, String(value));
  }
  return { link: `<${path}?${asked}>; rel="next"` };
}

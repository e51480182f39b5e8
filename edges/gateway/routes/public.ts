// What anybody may read: quotes, instruments, bars, funds and halts, without a login.
import { publicBarsCost } from "../../../contracts/src/doors/open-shares.ts";
import type { Bars, ListBarsRequest } from "../../../contracts/src/generated/svc/v1/marketdesk.ts";
import { tryParse } from "../../../contracts/src/instant.ts";
import { testSymbol } from "../../../contracts/src/records/market.ts";
import type { Route } from "../../../ports/http.ts";
import { plain } from "../ask-service.ts";
import { fieldAnswer, jsonMember } from "../declared/answers.ts";
import { messageOf, requestSchemas } from "../declared/requests.ts";
import { declarationOf } from "../declared/route.ts";
import { defineRoute } from "../define-route.ts";
import { testQuote } from "../public/test-symbol.ts";
import { answerReported, askPublic, type PublicParts, publicAnswer, publicCost } from "../public-data.ts";
import {
  nextBars,
  publicHaltsAnswer,
  publicQuotesQuery,
  quoteAnswer,
  quoteBody,
  quotesAnswer,
  symbolParams,
} from "../schemas/market.ts";
import { fundsAnswer } from "../schemas/treasury.ts";

/** The same question as the operators', at an address of its own. */
const path = "/v1/bars/:symbol";
const declaration = { ...declarationOf("listBars"), path };

const open = { method: "GET", listeners: ["public"], operation: "ReadMarketData", publicCost } as const;

/** GET /v1/bars/:symbol on the public port: how a price moved, oldest first, for anyone. */
export function publicBars(parts: PublicParts): Route {
  return {
    ...open,
    id: "getPublicBars",
    path,
    sentence: "Get how the price of a symbol moved, oldest first.",
    publicCost: publicBarsCost,
    ...requestSchemas(declaration),
    answers: { 200: fieldAnswer("Bars", "bars") },
    handle: (request) => {
      const message = messageOf<ListBarsRequest>(declaration, request);
      return askPublic<ListBarsRequest, Bars>(parts, request, {
        service: "MarketDesk",
        method: "ListBars",
        message,
        tell: (bars, asOf) => ({
          body: plain(jsonMember("Bars", "bars", bars)),
          freshS: isFinal(message, bars, asOf) ? "for ever" : 5,
          asOf,
          headers: nextBars(`/v1/bars/${encodeURIComponent(message.symbol)}`, request.query as object, bars.next_start),
        }),
      });
    },
  };
}

/** The page begins where the question says and ends before now, and everything on it is closed: it will be the same for ever. */
function isFinal({ start, end }: ListBarsRequest, { bars, next_start }: Bars, now: number): boolean {
  const endsAt = end === undefined ? undefined : (tryParse(end) ?? tryParse(`${end}T00:00:00Z`));
  const isBounded = next_start !== undefined || (endsAt !== undefined && endsAt <= now);
  return start !== undefined && isBounded && bars.length > 0 && bars.every(({ closed }) => closed);
}

/** GET /v1/quotes/:symbol on the public port: the newest prices of one symbol, for anyone. */
export function publicQuote(parts: PublicParts): Route {
  return defineRoute({
    ...open,
    id: "getPublicQuote",
    path: "/v1/quotes/:symbol",
    sentence: "Get the newest prices of a symbol; TEST is quoted always and changes every second.",
    params: symbolParams,
    answers: { 200: quoteAnswer },
    handle: async ({ params: { symbol } }) => {
      const asOf = parts.clock.now();
      if (symbol === testSymbol) {
        return publicAnswer({ body: plain(quoteBody(testQuote(asOf), asOf)), freshS: 1, asOf });
      }
      const nothing = `There is no quote of ${JSON.stringify(symbol)}: no such instrument is traded here, or it has not been quoted yet.`;
      const tell = (quotes: ReadonlyMap<string, Parameters<typeof quoteBody>[0]>, now: typeof asOf) => {
        const found = quotes.get(symbol);
        return found === undefined ? undefined : quoteBody(found, now);
      };
      return answerReported(parts, parts.marketFeed.quotes, tell, nothing);
    },
  });
}

/** GET /v1/quotes on the public port: the newest prices of several symbols. */
export function publicQuotes(parts: PublicParts): Route {
  return defineRoute({
    ...open,
    id: "getPublicQuotes",
    path: "/v1/quotes",
    sentence: "Get the newest prices of up to 100 symbols; those without a quote are left out.",
    query: publicQuotesQuery,
    answers: { 200: quotesAnswer },
    handle: async ({ query: { symbols } }) =>
      answerReported(parts, parts.marketFeed.quotes, (quotes, now) =>
        [...new Set(symbols.split(","))].flatMap((symbol) => {
          const found = symbol === testSymbol ? testQuote(now) : quotes.get(symbol);
          return found === undefined ? [] : [quoteBody(found, now)];
        }),
      ),
  });
}

/** GET /v1/instruments on the public port: what is traded here. */
export function publicInstruments(parts: PublicParts): Route {
  return defineRoute({
    ...open,
    id: "getPublicInstruments",
    path: "/v1/instruments",
    sentence: "List the instruments that are traded here.",
    answers: { 200: fieldAnswer("Instruments", "instruments") },
    handle: async () =>
      answerReported(parts, parts.marketFeed.instruments, (instruments) =>
        jsonMember("Instruments", "instruments", { instruments }),
      ),
  });
}

/** GET /v1/funds on the public port: the funds, what they are worth where that is public, and whether they are halted. */
export function publicFunds(parts: PublicParts): Route {
  return defineRoute({
    ...open,
    id: "getPublicFunds",
    path: "/v1/funds",
    sentence: "List the funds and, where that is public, what they are worth.",
    answers: { 200: fundsAnswer },
    handle: async () => answerReported(parts, parts.marketFeed.funds, (funds) => funds),
  });
}

/** GET /v1/halts on the public port: the halts in force, for anyone. */
export function publicHalts(parts: PublicParts): Route {
  return defineRoute({
    ...open,
    id: "getPublicHalts",
    path: "/v1/halts",
    sentence: "List the halts in force, without the figures that tripped them.",
    answers: { 200: publicHaltsAnswer },
    handle: async () => answerReported(parts, parts.marketFeed.halts, ({ halts }) => halts),
  });
}

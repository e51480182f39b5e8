// GET /v1/quotes/:symbol on the public port: the newest prices of one symbol, for anyone.
import type { ListQuotesRequest, Quotes } from "../../../contracts/src/generated/svc/v1/marketdesk.ts";
import type { Route } from "../../../ports/http.ts";
import { defineRoute } from "../define-route.ts";
import { answerPublic, type PublicParts, publicRequestsPerMinuteMax } from "../public-data.ts";
import { quoteAnswer, symbolParams, toldQuote } from "../schemas/market.ts";

export function publicQuote(parts: PublicParts): Route {
  return defineRoute({
    id: "getPublicQuote",
    method: "GET",
    path: "/v1/quotes/:symbol",
    listeners: ["public"],
    sentence: "Get the newest prices of a symbol.",
    operation: "ReadMarketData",
    attemptsPerMinuteMax: publicRequestsPerMinuteMax,
    params: symbolParams,
    answers: { 200: quoteAnswer },
    handle: (request) =>
      answerPublic<ListQuotesRequest, Quotes>(parts, request, {
        service: "MarketDesk",
        method: "ListQuotes",
        message: { symbols: [request.params.symbol] },
        freshS: 1,
        tell: ({ quotes }) => {
          const found = quotes.find(({ symbol }) => symbol === request.params.symbol);
          return found === undefined ? undefined : toldQuote(found, parts.clock.now());
        },
        nothing: `There is no quote of ${JSON.stringify(request.params.symbol)}: no such instrument is traded here, or it has not been quoted yet.`,
      }),
  });
}

// GET /v1/market/quotes: the newest prices.
import type { ListQuotesRequest, Quotes } from "../../../contracts/src/generated/svc/v1/marketdesk.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { declaredPlace } from "../declared/route.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { quotesAnswer, quotesQuery, toldQuote } from "../schemas/market.ts";

export function quotesList(parts: Pick<GatewayParts, "services" | "clock">): Route {
  return defineRoute({
    ...declaredPlace("listQuotes"),
    query: quotesQuery,
    answers: { 200: quotesAnswer },
    handle: async (request) => {
      const outcome = await askService<ListQuotesRequest, Quotes>(parts, request, {
        service: "MarketDesk",
        method: "ListQuotes",
        message: { symbols: request.query.symbols?.split(",") ?? [] },
      });
      return answerTo(outcome, 200, ({ quotes }) => plain(quotes.map((one) => toldQuote(one, parts.clock.now()))));
    },
  });
}

// Prices for operators, where a route does more than forward.
import type {
  Bars,
  ListBarsRequest,
  ListQuotesRequest,
  Quotes,
} from "../../../contracts/src/generated/svc/v1/marketdesk.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { askDeclared, declared, declaredBody, declaredMessage, declaredPlace } from "../declared/route.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { nextBars, quoteBody, quotesAnswer, quotesQuery } from "../schemas/market.ts";

/** GET /v1/market/bars/:symbol: how a price moved, oldest first. */
export function barsList(parts: Pick<GatewayParts, "services">): Route {
  return {
    ...declared("listBars"),
    handle: async (request) => {
      const message = declaredMessage<ListBarsRequest>("listBars", request);
      const outcome = await askDeclared<Bars>("listBars", parts, request, message);
      const answer = answerTo(outcome, 200, (bars) => declaredBody("listBars", bars));
      const path = `/v1/market/bars/${encodeURIComponent(message.symbol)}`;
      const headers = outcome.ok ? nextBars(path, request.query as object, outcome.value.next_start) : undefined;
      return headers === undefined ? answer : { ...answer, headers };
    },
  };
}

/** GET /v1/market/quotes: the newest prices. */
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
      return answerTo(outcome, 200, ({ quotes }) => plain(quotes.map((one) => quoteBody(one, parts.clock.now()))));
    },
  });
}

// GET /v1/market/news: news on symbols, newest first.
import type { ListNewsRequest, News } from "../../../contracts/src/generated/svc/v1/marketdesk.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { newsAnswer, newsQuery } from "../schemas/market.ts";

export function newsList(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "listNews",
    method: "GET",
    path: "/v1/market/news",
    listeners: ["operator"],
    sentence: "List news on symbols, newest first.",
    operation: "ListNews",
    query: newsQuery,
    answers: { 200: newsAnswer },
    handle: async (request) => {
      const { symbol, hours, count_max } = request.query;
      const outcome = await askService<ListNewsRequest, News>(parts, request, {
        service: "MarketDesk",
        method: "ListNews",
        message: { symbol, hours: hours ?? 24, count_max: count_max ?? 100 },
      });
      return answerTo(outcome, 200, ({ items }) => plain(items));
    },
  });
}

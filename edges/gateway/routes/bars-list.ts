// GET /v1/market/bars/:symbol: how a price moved, oldest first.
import type { Bars, ListBarsRequest } from "../../../contracts/src/generated/svc/v1/marketdesk.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { barsAnswer, barsMessage, barsQuery, nextBars, symbolParams } from "../schemas/market.ts";

export function barsList(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "listBars",
    method: "GET",
    path: "/v1/market/bars/:symbol",
    listeners: ["operator"],
    sentence: "List how a price moved, oldest first.",
    operation: "ListBars",
    params: symbolParams,
    query: barsQuery,
    answers: { 200: barsAnswer },
    handle: async (request) => {
      const outcome = await askService<ListBarsRequest, Bars>(parts, request, {
        service: "MarketDesk",
        method: "ListBars",
        message: barsMessage(request.params.symbol, request.query),
      });
      const answer = answerTo(outcome, 200, ({ bars }) => plain(bars));
      const path = `/v1/market/bars/${encodeURIComponent(request.params.symbol)}`;
      const headers = outcome.ok ? nextBars(path, request.query, outcome.value.next_start) : undefined;
      return headers === undefined ? answer : { ...answer, headers };
    },
  });
}

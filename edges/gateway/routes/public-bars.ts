// GET /v1/bars/:symbol on the public port: how a price moved, oldest first, for anyone.
import type { Bars, ListBarsRequest } from "../../../contracts/src/generated/svc/v1/marketdesk.ts";
import type { Route } from "../../../ports/http.ts";
import { defineRoute } from "../define-route.ts";
import { answerPublic, type PublicParts, publicBarsPerMinuteMax } from "../public-data.ts";
import { barsAnswer, barsMessage, barsQuery, nextBars, symbolParams } from "../schemas/market.ts";

export function publicBars(parts: PublicParts): Route {
  return defineRoute({
    id: "getPublicBars",
    method: "GET",
    path: "/v1/bars/:symbol",
    listeners: ["public"],
    sentence: "Get how the price of a symbol moved, oldest first.",
    operation: "ReadMarketData",
    attemptsPerMinuteMax: publicBarsPerMinuteMax,
    params: symbolParams,
    query: barsQuery,
    answers: { 200: barsAnswer },
    handle: (request) =>
      answerPublic<ListBarsRequest, Bars>(parts, request, {
        service: "MarketDesk",
        method: "ListBars",
        message: barsMessage(request.params.symbol, request.query),
        freshS: 5,
        tell: ({ bars }) => bars,
        headers: ({ next_start }) =>
          nextBars(`/v1/bars/${encodeURIComponent(request.params.symbol)}`, request.query, next_start),
      }),
  });
}

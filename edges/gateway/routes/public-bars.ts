// GET /v1/bars/:symbol on the public port: how a price moved, oldest first, for anyone.
import type { Bars, ListBarsRequest } from "../../../contracts/src/generated/svc/v1/marketdesk.ts";
import type { Route } from "../../../ports/http.ts";
import { fieldAnswer, toldMember } from "../declared/answers.ts";
import { messageOf, requestSchemas } from "../declared/requests.ts";
import { declarationOf } from "../declared/route.ts";
import { answerPublic, type PublicParts, publicBarsPerMinuteMax } from "../public-data.ts";
import { nextBars } from "../schemas/market.ts";

/** The same question as the operators', at an address of its own. */
const path = "/v1/bars/:symbol";
const declaration = { ...declarationOf("listBars"), path };

export function publicBars(parts: PublicParts): Route {
  return {
    id: "getPublicBars",
    method: "GET",
    path,
    listeners: ["public"],
    sentence: "Get how the price of a symbol moved, oldest first.",
    operation: "ReadMarketData",
    attemptsPerMinuteMax: publicBarsPerMinuteMax,
    ...requestSchemas(declaration),
    answers: { 200: fieldAnswer("Bars", "bars") },
    handle: (request) => {
      const message = messageOf<ListBarsRequest>(declaration, request);
      return answerPublic<ListBarsRequest, Bars>(parts, request, {
        service: "MarketDesk",
        method: "ListBars",
        message,
        freshS: 5,
        tell: (bars) => toldMember("Bars", "bars", bars),
        headers: ({ next_start }) =>
          nextBars(`/v1/bars/${encodeURIComponent(message.symbol)}`, request.query as object, next_start),
      });
    },
  };
}

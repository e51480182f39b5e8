// GET /v1/funds on the public port: the funds, what they are worth, and whether they are halted, for anyone.
import type { Funds, ListFundsRequest } from "../../../contracts/src/generated/svc/v1/platform.ts";
import type { Route } from "../../../ports/http.ts";
import { defineRoute } from "../define-route.ts";
import { answerPublic, type PublicParts, publicRequestsPerMinuteMax } from "../public-data.ts";
import { fundsAnswer, toldFund } from "../schemas/treasury.ts";

export function publicFunds(parts: PublicParts): Route {
  return defineRoute({
    id: "getPublicFunds",
    method: "GET",
    path: "/v1/funds",
    listeners: ["public"],
    sentence: "List the funds and what they are worth.",
    operation: "ReadMarketData",
    attemptsPerMinuteMax: publicRequestsPerMinuteMax,
    answers: { 200: fundsAnswer },
    handle: (request) =>
      answerPublic<ListFundsRequest, Funds>(parts, request, {
        service: "Treasury",
        method: "ListFunds",
        message: {},
        freshS: 1,
        tell: ({ funds }) => funds.map(toldFund),
      }),
  });
}

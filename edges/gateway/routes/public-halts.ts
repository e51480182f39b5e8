// GET /v1/halts on the public port: the halts in force, for anyone.
import type { ActiveHalts, ListActiveHaltsRequest } from "../../../contracts/src/generated/svc/v1/halt.ts";
import type { Route } from "../../../ports/http.ts";
import { fieldAnswer, toldMember } from "../declared/answers.ts";
import { defineRoute } from "../define-route.ts";
import { answerPublic, type PublicParts, publicRequestsPerMinuteMax } from "../public-data.ts";

export function publicHalts(parts: PublicParts): Route {
  return defineRoute({
    id: "getPublicHalts",
    method: "GET",
    path: "/v1/halts",
    listeners: ["public"],
    sentence: "List the halts in force.",
    operation: "ReadMarketData",
    attemptsPerMinuteMax: publicRequestsPerMinuteMax,
    answers: { 200: fieldAnswer("ActiveHalts", "halts") },
    handle: (request) =>
      answerPublic<ListActiveHaltsRequest, ActiveHalts>(parts, request, {
        service: "Operations",
        method: "ListActiveHalts",
        message: {},
        freshS: 1,
        tell: (halts) => toldMember("ActiveHalts", "halts", halts),
      }),
  });
}

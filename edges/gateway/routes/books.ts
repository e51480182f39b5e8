// GET /v1/riskengine/books: whether orders, positions, cash, value and exposure agree.
import type { Books, GetBooksRequest } from "../../../contracts/src/generated/svc/v1/riskworkers.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { booksAnswer, toldCheck } from "../schemas/risk-workers.ts";

export function books(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "getBooks",
    method: "GET",
    path: "/v1/riskengine/books",
    listeners: ["operator"],
    sentence: "See whether orders, positions, cash, value and exposure agree.",
    operation: "GetBooks",
    answers: { 200: booksAnswer },
    handle: async (request) => {
      const outcome = await askService<GetBooksRequest, Books>(parts, request, {
        service: "RiskWorkers",
        method: "GetBooks",
        message: {},
      });
      return answerTo(outcome, 200, ({ checks }) => plain(checks.map(toldCheck)));
    },
  });
}

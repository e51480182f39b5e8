// POST /v1/treasury/flows: money put into a paper fund or taken out of it.
import type { BookFlowRequest, LedgerEntry } from "../../../contracts/src/generated/svc/v1/platform.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { bookedFlowAnswer, bookFlowBody } from "../schemas/accounts.ts";

export function flowBook(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "bookFlow",
    method: "POST",
    path: "/v1/treasury/flows",
    listeners: ["operator"],
    sentence: "Book a deposit into a paper fund or a withdrawal from it.",
    operation: "BookFlow",
    body: bookFlowBody,
    answers: { 200: bookedFlowAnswer },
    handle: async (request) => {
      const outcome = await askService<BookFlowRequest, LedgerEntry>(parts, request, {
        service: "Treasury",
        method: "BookFlow",
        message: { ...request.body, reason: request.body.reason ?? "" },
      });
      return answerTo(outcome, 200, plain);
    },
  });
}

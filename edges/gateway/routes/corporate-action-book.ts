// POST /v1/treasury/corporate-actions: a cash dividend, booked to whoever held the share before its ex-date.
import type { BookCorporateActionRequest, CorporateAction } from "../../../contracts/src/generated/svc/v1/platform.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { bookCorporateActionBody, corporateActionAnswer } from "../schemas/accounts.ts";

export function corporateActionBook(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "bookCorporateAction",
    method: "POST",
    path: "/v1/treasury/corporate-actions",
    listeners: ["operator"],
    sentence: "Book a cash dividend to the paper funds that held the share.",
    operation: "BookCorporateAction",
    body: bookCorporateActionBody,
    answers: { 200: corporateActionAnswer },
    handle: async (request) => {
      const outcome = await askService<BookCorporateActionRequest, CorporateAction>(parts, request, {
        service: "Treasury",
        method: "BookCorporateAction",
        message: { ...request.body, reason: request.body.reason ?? "" },
      });
      return answerTo(outcome, 200, plain);
    },
  });
}

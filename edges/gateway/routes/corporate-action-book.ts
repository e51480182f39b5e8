// POST /v1/treasury/corporate-actions: a cash dividend, booked to whoever held the share before its ex-date, or a split or a change of symbol, which is
// announced and carried out within seconds; asked again it tells how far that is.
import type { z } from "zod";
import type { BookCorporateActionRequest, CorporateAction } from "../../../contracts/src/generated/svc/v1/platform.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { bookCorporateActionBody, corporateActionAnswer } from "../schemas/accounts.ts";

/** Which terms an action has follows from its kind, and treasury says so. */
function messageOf(body: z.infer<typeof bookCorporateActionBody>): BookCorporateActionRequest {
  const { amount_per_share = "", ex_date = "", ratio = "", new_symbol = "", reason = "" } = body;
  return { ...body, amount_per_share, ex_date, ratio, new_symbol, reason };
}

export function corporateActionBook(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "bookCorporateAction",
    method: "POST",
    path: "/v1/treasury/corporate-actions",
    listeners: ["operator"],
    sentence: "Book a cash dividend, a split or a change of symbol to the paper funds.",
    operation: "BookCorporateAction",
    body: bookCorporateActionBody,
    answers: { 200: corporateActionAnswer },
    handle: async (request) => {
      const outcome = await askService<BookCorporateActionRequest, CorporateAction>(parts, request, {
        service: "Treasury",
        method: "BookCorporateAction",
        message: messageOf(request.body),
      });
      return answerTo(outcome, 200, plain);
    },
  });
}

// POST /v1/flatten: closes every position of the paper funds.
import type { Flatten, FlattenPaperRequest } from "../../../contracts/src/generated/svc/v1/haltdesk.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { flattenAnswer, flattenBody } from "../schemas/halts.ts";

export function flattenBegin(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "flattenPaper",
    method: "POST",
    path: "/v1/flatten",
    listeners: ["operator"],
    sentence:
      "Close every position of the paper funds; the answer tells how far each is, and the rest is tried until it is done.",
    operation: "FlattenPaper",
    body: flattenBody,
    answers: { 201: flattenAnswer },
    handle: async (request) => {
      const { fund_id, confirmation, reason } = request.body;
      const outcome = await askService<FlattenPaperRequest, Flatten>(parts, request, {
        service: "HaltDesk",
        method: "FlattenPaper",
        message: { fund_id, confirmation: confirmation ?? "", reason: reason ?? "" },
      });
      return answerTo(outcome, 201, plain);
    },
  });
}

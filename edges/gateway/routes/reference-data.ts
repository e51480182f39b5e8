// GET /v1/treasury/reference/:kind: the newest version of one kind of reference data.
import type { ReferenceDocument } from "../../../contracts/src/generated/svc/v1/platform.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { plain } from "../ask-service.ts";
import { askDeclared, declaredMessage, declaredRequest } from "../declared/route.ts";
import type { GatewayParts } from "../parts.ts";
import { referenceAnswer, referenceJson } from "../schemas/treasury.ts";

export function referenceData(parts: Pick<GatewayParts, "services">): Route {
  return {
    ...declaredRequest("getReferenceData"),
    answers: { 200: referenceAnswer },
    handle: async (request) => {
      const message = declaredMessage("getReferenceData", request);
      const outcome = await askDeclared<ReferenceDocument>("getReferenceData", parts, request, message);
      return answerTo(outcome, 200, (document) => plain(referenceJson(document)));
    },
  };
}

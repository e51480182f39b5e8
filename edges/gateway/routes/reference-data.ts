// GET /v1/treasury/reference/:kind: the newest version of one kind of reference data.
import type { ReferenceDataRequest, ReferenceDocument } from "../../../contracts/src/generated/svc/v1/platform.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { kindParams, referenceAnswer, referenceJson } from "../schemas/treasury.ts";

export function referenceData(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "getReferenceData",
    method: "GET",
    path: "/v1/treasury/reference/:kind",
    listeners: ["operator"],
    sentence: "Read one kind of reference data.",
    operation: "GetReferenceData",
    params: kindParams,
    answers: { 200: referenceAnswer },
    handle: async (request) => {
      const outcome = await askService<ReferenceDataRequest, ReferenceDocument>(parts, request, {
        service: "Treasury",
        method: "GetReferenceData",
        message: { kind: request.params.kind },
      });
      return answerTo(outcome, 200, (document) => plain(referenceJson(document)));
    },
  });
}

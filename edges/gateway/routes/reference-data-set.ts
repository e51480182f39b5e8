// PUT /v1/treasury/reference/:kind: the next version of one kind of reference data, as a whole.
import type { ReferenceDocument } from "../../../contracts/src/generated/svc/v1/platform.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { declaredPlace } from "../declared/route.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { kindParams, referenceAnswer, referenceJson, setReferenceDataBody } from "../schemas/treasury.ts";

export function referenceDataSet(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    ...declaredPlace("setReferenceData"),
    params: kindParams,
    body: setReferenceDataBody,
    answers: { 200: referenceAnswer },
    handle: async (request) => {
      const { version, content, reason } = request.body;
      const outcome = await askService<ReferenceDocument, ReferenceDocument>(parts, request, {
        service: "Treasury",
        method: "SetReferenceData",
        message: {
          kind: request.params.kind,
          version,
          content_json: JSON.stringify(content),
          reason: reason ?? "",
        },
      });
      return answerTo(outcome, 200, (document) => plain(referenceJson(document)));
    },
  });
}

// POST /v1/riskengine/envelopes/:fund_id/diff: what a change of limits loosens and what it tightens, field by field. It changes nothing.
import type { DiffEnvelopesRequest, EnvelopeDiff } from "../../../contracts/src/generated/svc/v1/riskdesk.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { declaredAnswers, declaredPlace } from "../declared/route.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { diffEnvelopesBody, envelopeMessage, fundParams } from "../schemas/envelope.ts";
import { refuseOtherFund } from "./envelope-update.ts";

export function envelopeDiff(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    ...declaredPlace("diffEnvelopes"),
    params: fundParams,
    body: diffEnvelopesBody,
    answers: declaredAnswers("diffEnvelopes"),
    handle: async (request) => {
      const { from_version, to_version, proposed } = request.body;
      const fundId = request.params.fund_id;
      refuseOtherFund(proposed?.fund_id, fundId);
      const outcome = await askService<DiffEnvelopesRequest, EnvelopeDiff>(parts, request, {
        service: "RiskDesk",
        method: "DiffEnvelopes",
        message: {
          fund_id: fundId,
          from_version,
          to_version,
          proposed: proposed === undefined ? undefined : envelopeMessage(fundId, proposed),
        },
      });
      return answerTo(outcome, 200, plain);
    },
  });
}

// PUT /v1/riskengine/envelopes/:fund_id: a fund's next limits, all of them. The answer is what the engine applies from now on.

import { Fault } from "../../../contracts/src/fault.ts";
import type { RiskEnvelope } from "../../../contracts/src/generated/svc/v1/envelope.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { declaredAnswers, declaredPlace } from "../declared/route.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { envelopeMessage, fundParams, updateEnvelopeBody } from "../schemas/envelope.ts";

export function envelopeUpdate(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    ...declaredPlace("updateEnvelope"),
    params: fundParams,
    body: updateEnvelopeBody,
    answers: declaredAnswers("updateEnvelope"),
    handle: async (request) => {
      const fundId = request.params.fund_id;
      const { step_up_proof: stepUpProof, ...envelope } = request.body;
      refuseOtherFund(envelope.fund_id, fundId);
      const outcome = await askService<RiskEnvelope, RiskEnvelope>(parts, request, {
        service: "RiskEngine",
        method: "UpdateEnvelope",
        message: envelopeMessage(fundId, envelope),
        stepUpProof,
      });
      return answerTo(outcome, 200, plain);
    },
  });
}

/** One fund's limits sent to another fund are a slip, and a dangerous one. */
export function refuseOtherFund(named: string | undefined, fundId: string): void {
  if (named === undefined || named === fundId) return;
  throw new Fault("INVALID_ARGUMENT", `The envelope is of the fund ${named}, and the path names ${fundId}.`, {
    retry: "never",
  });
}

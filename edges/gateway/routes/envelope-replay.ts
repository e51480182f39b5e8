// POST /v1/riskengine/envelopes/:fund_id/replay: which recorded decisions would have been others under proposed limits. It changes nothing.
import type { EnvelopeReplay, ReplayEnvelopeRequest } from "../../../contracts/src/generated/svc/v1/riskdesk.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { declaredAnswers, declaredPlace } from "../declared/route.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { envelopeMessage, fundParams, replayEnvelopeBody } from "../schemas/envelope.ts";
import { refuseOtherFund } from "./envelope-update.ts";

/** A long period is many decisions; the listener's own bound lies above this. */
const timeoutMs = 25_000;

export function envelopeReplay(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    ...declaredPlace("replayEnvelope"),
    params: fundParams,
    body: replayEnvelopeBody,
    answers: declaredAnswers("replayEnvelope"),
    handle: async (request) => {
      const { proposed, from, to, count_max } = request.body;
      const fundId = request.params.fund_id;
      refuseOtherFund(proposed.fund_id, fundId);
      const outcome = await askService<ReplayEnvelopeRequest, EnvelopeReplay>(parts, request, {
        service: "RiskDesk",
        method: "ReplayEnvelope",
        message: { proposed: envelopeMessage(fundId, proposed), from, to, count_max: count_max ?? 0 },
        timeoutMs,
      });
      return answerTo(outcome, 200, plain);
    },
  });
}

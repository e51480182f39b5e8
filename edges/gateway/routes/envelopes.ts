// A fund's limits: changed, compared, replayed.

import { Fault } from "../../../contracts/src/fault.ts";
import type { RiskEnvelope } from "../../../contracts/src/generated/svc/v1/envelope.ts";
import type {
  DiffEnvelopesRequest,
  EnvelopeDiff,
  EnvelopeReplay,
  ReplayEnvelopeRequest,
} from "../../../contracts/src/generated/svc/v1/riskdesk.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { declaredAnswers, declaredPlace } from "../declared/route.ts";
import { defineRoute } from "../define-route.ts";
import { underIfMatch } from "../if-match.ts";
import type { GatewayParts } from "../parts.ts";
import {
  diffEnvelopesBody,
  envelopeMessage,
  fundParams,
  replayEnvelopeBody,
  updateEnvelopeBody,
} from "../schemas/envelope.ts";

/** POST /v1/riskengine/envelopes/:fund_id/diff: what a change of limits loosens and what it tightens, field by field. It changes nothing. */
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

/** A long period is many decisions; the listener's own bound lies above this. */
const timeoutMs = 25_000;

/** POST /v1/riskengine/envelopes/:fund_id/replay: which recorded decisions would have been others under proposed limits. It changes nothing. */
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

/** PUT /v1/riskengine/envelopes/:fund_id: a fund's next limits, all of them. The answer is what the engine applies from now on. */
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
      const condition = { bodyVersion: envelope.version, conflictCode: "ENVELOPE_VERSION_CONFLICT" };
      return underIfMatch(request, condition, async () => {
        const outcome = await askService<RiskEnvelope, RiskEnvelope>(parts, request, {
          service: "RiskEngine",
          method: "UpdateEnvelope",
          message: envelopeMessage(fundId, envelope),
          stepUpProof,
        });
        return answerTo(outcome, 200, plain);
      });
    },
  });
}

/** One fund's limits sent to another fund are a slip, and a dangerous one. */
function refuseOtherFund(named: string | undefined, fundId: string): void {
  if (named === undefined || named === fundId) return;
  throw new Fault("INVALID_ARGUMENT", `The envelope is of the fund ${named}, and the path names ${fundId}.`, {
    retry: "never",
  });
}

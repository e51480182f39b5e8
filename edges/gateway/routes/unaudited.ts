// Accepting a change that has no event: an admin asks, a second person signs, and operations does it. Seeing them is a procedure of operations.
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { callerOf, defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import {
  acceptBody,
  acceptParams,
  cosignBody,
  cosignedAnswer,
  cosignedJson,
  requestedAnswer,
  requestedJson,
  requestParams,
} from "../schemas/operators.ts";

type Parts = Pick<GatewayParts, "identityRequests">;

export function unauditedChangeAccept(parts: Parts): Route {
  return defineRoute({
    id: "acceptUnauditedChange",
    method: "POST",
    path: "/v1/operations/unaudited-changes/:change_id/accept",
    listeners: ["operator"],
    sentence:
      "Ask for a change that has no event to be accepted as it stands; it counts when a second person has signed.",
    operation: "AcceptUnauditedChange",
    params: acceptParams,
    body: acceptBody,
    answers: { 201: requestedAnswer },
    handle: async (request) => {
      const { reason, step_up_proof: proof } = request.body;
      const asked = { identity: callerOf(request), reason, proof };
      const outcome = await parts.identityRequests.requestAcceptance(asked, request.params.change_id);
      return answerTo(outcome, 201, requestedJson);
    },
  });
}

export function unauditedChangeCosign(parts: Parts): Route {
  return defineRoute({
    id: "cosignUnauditedChange",
    method: "POST",
    path: "/v1/operations/unaudited-requests/:request_id/cosign",
    listeners: ["operator"],
    sentence:
      "Sign an admin's request to accept a change that has no event; new risk passes again within a second or two.",
    operation: "CosignUnauditedChange",
    params: requestParams,
    body: cosignBody,
    answers: { 200: cosignedAnswer },
    handle: async (request) => {
      const asked = { identity: callerOf(request), proof: request.body.step_up_proof };
      const outcome = await parts.identityRequests.cosignAcceptance(asked, request.params.request_id);
      return answerTo(outcome, 200, cosignedJson);
    },
  });
}

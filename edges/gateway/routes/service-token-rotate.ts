// A machine's token replaced by a new one, with a time in which both work. It needs a proof of the second factor.
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { callerOf, defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { issuedTokenAnswer, issuedTokenJson, rotateBody, tokenParams } from "../schemas/service-token.ts";

export function serviceTokenRotate(parts: Pick<GatewayParts, "serviceTokens">): Route {
  return defineRoute({
    id: "rotateServiceToken",
    method: "POST",
    path: "/v1/service-tokens/:token_id/rotate",
    listeners: ["operator"],
    sentence: "Replace a machine's token by a new one; the old one works a while longer.",
    operation: "RotateServiceToken",
    params: tokenParams,
    body: rotateBody,
    answers: { 201: issuedTokenAnswer },
    handle: async (request) => {
      const { overlap_s: overlapS, expires_in_s: expiresInS, step_up_proof: proof, reason } = request.body;
      const wish = { id: request.params.token_id, overlapS, expiresInS };
      return answerTo(await parts.serviceTokens.rotate(callerOf(request), wish, proof, reason), 201, issuedTokenJson);
    },
  });
}

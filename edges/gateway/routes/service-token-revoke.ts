// A machine's token taken away. It needs no proof: nobody should have to look for a telephone to shut a door.
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { callerOf, defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { revokeQuery, serviceTokenAnswer, serviceTokenJson, tokenParams } from "../schemas/service-token.ts";

export function serviceTokenRevoke(parts: Pick<GatewayParts, "serviceTokens">): Route {
  return defineRoute({
    id: "revokeServiceToken",
    method: "DELETE",
    path: "/v1/service-tokens/:token_id",
    listeners: ["operator"],
    sentence: "Take a machine's token away.",
    operation: "RevokeServiceToken",
    params: tokenParams,
    query: revokeQuery,
    answers: { 200: serviceTokenAnswer },
    handle: async (request) => {
      const { params, query } = request;
      const outcome = await parts.serviceTokens.revoke(callerOf(request), params.token_id, query.reason);
      return answerTo(outcome, 200, serviceTokenJson);
    },
  });
}

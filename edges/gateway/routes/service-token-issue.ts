// A new token for a machine: named, narrowed to some operations, and running out. It needs a proof of the second factor.
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { callerOf, defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { issueBody, issuedTokenAnswer, issuedTokenJson } from "../schemas/service-token.ts";

export function serviceTokenIssue(parts: Pick<GatewayParts, "serviceTokens">): Route {
  return defineRoute({
    id: "issueServiceToken",
    method: "POST",
    path: "/v1/service-tokens",
    listeners: ["operator"],
    sentence: "Give a machine a token for named operations; its value is told once.",
    operation: "IssueServiceToken",
    body: issueBody,
    answers: { 201: issuedTokenAnswer },
    handle: async (request) => {
      const { name, operations, expires_in_s: expiresInS, step_up_proof: proof, reason } = request.body;
      const wish = { name, operations, expiresInS };
      const outcome = await parts.serviceTokens.issue(callerOf(request), wish, proof, reason);
      return answerTo(outcome, 201, issuedTokenJson);
    },
  });
}

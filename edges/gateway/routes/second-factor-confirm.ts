// The second half of setting up a second factor: a code from the authenticator shows that it holds the secret, and the
// recovery codes are told, once.
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { callerOf, defineRoute } from "../define-route.ts";
import { attemptsPerMinuteMax, type GatewayParts } from "../parts.ts";
import { confirmSecondFactorAnswer, confirmSecondFactorBody } from "../schemas/second-factor.ts";

export function secondFactorConfirm(parts: Pick<GatewayParts, "secondFactors">): Route {
  return defineRoute({
    id: "confirmSecondFactor",
    method: "POST",
    path: "/v1/auth/second-factor/confirm",
    listeners: ["operator"],
    sentence: "Put the new secret in force with a code from your authenticator.",
    operation: "EnrolSecondFactor",
    body: confirmSecondFactorBody,
    answers: { 200: confirmSecondFactorAnswer },
    attemptsPerMinuteMax,
    handle: async (request) => {
      const outcome = await parts.secondFactors.confirm(callerOf(request), request.body.code);
      return answerTo(outcome, 200, ({ recoveryCodes }) => ({ recovery_codes: recoveryCodes }));
    },
  });
}

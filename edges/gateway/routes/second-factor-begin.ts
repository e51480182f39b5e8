// The first half of setting up a second factor: a secret, told once, that counts only after it is confirmed. Whoever has a factor
// already shows it first, so that a stolen session cannot put its own in the place of the owner's.
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { callerOf, defineRoute } from "../define-route.ts";
import { attemptsPerMinuteMax, type GatewayParts } from "../parts.ts";
import { beginSecondFactorAnswer, beginSecondFactorBody, shownFactor } from "../schemas/second-factor.ts";

export function secondFactorBegin(parts: Pick<GatewayParts, "secondFactors">): Route {
  return defineRoute({
    id: "beginSecondFactor",
    method: "POST",
    path: "/v1/auth/second-factor",
    listeners: ["operator"],
    sentence: "Get a new secret for your authenticator; a factor you already have is shown first.",
    operation: "EnrolSecondFactor",
    body: beginSecondFactorBody,
    answers: { 201: beginSecondFactorAnswer },
    attemptsPerMinuteMax,
    handle: async (request) => {
      const outcome = await parts.secondFactors.begin(callerOf(request), shownFactor(request.body));
      return answerTo(outcome, 201, ({ secret, uri }) => ({ secret, uri }));
    },
  });
}

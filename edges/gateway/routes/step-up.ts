// A proof of the second factor for one named action and its parameters, of short life and for one use.
import { Defect } from "../../../contracts/src/fault.ts";
import * as instant from "../../../contracts/src/instant.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { callerOf, defineRoute } from "../define-route.ts";
import { attemptsPerMinuteMax, type GatewayParts } from "../parts.ts";
import { shownFactor, stepUpAnswer, stepUpBody } from "../schemas/second-factor.ts";

export function stepUp(parts: Pick<GatewayParts, "secondFactors">): Route {
  return defineRoute({
    id: "stepUp",
    method: "POST",
    path: "/v1/auth/step-up",
    listeners: ["operator"],
    sentence: "Prove your second factor for one action and its parameters.",
    operation: "StepUp",
    body: stepUpBody,
    answers: { 201: stepUpAnswer },
    attemptsPerMinuteMax,
    handle: async (request) => {
      const { action, parameters } = request.body;
      const shown = shownFactor(request.body);
      // The schema asks for exactly one, so this is a schema that no longer does.
      if (shown === undefined) throw new Defect("a step-up without a factor passed its schema");
      const outcome = await parts.secondFactors.stepUp(callerOf(request), { action, parameters }, shown);
      return answerTo(outcome, 201, ({ proof, expiresAt }) => ({ proof, expires_at: instant.format(expiresAt) }));
    },
  });
}

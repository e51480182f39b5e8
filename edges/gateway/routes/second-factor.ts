// Second factors: set up, and proved for one action.

import { Defect } from "../../../contracts/src/fault.ts";
import * as instant from "../../../contracts/src/instant.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { callerOf, defineRoute } from "../define-route.ts";
import { attemptsPerMinuteMax, type GatewayParts } from "../parts.ts";
import {
  beginSecondFactorAnswer,
  beginSecondFactorBody,
  confirmSecondFactorAnswer,
  confirmSecondFactorBody,
  shownFactor,
  stepUpAnswer,
  stepUpBody,
} from "../schemas/second-factor.ts";

/**
 * The first half of setting up a second factor: a secret, shown once, that counts only after it is confirmed. A person who has a factor
 * already shows it first, so that a stolen session cannot put its own in the place of the owner's.
 */
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
    answersSecret: {},
    attemptsPerMinuteMax,
    handle: async (request) => {
      const outcome = await parts.secondFactors.begin(callerOf(request), shownFactor(request.body));
      return answerTo(outcome, 201, ({ secret, uri }) => ({ secret, uri }));
    },
  });
}

/**
 * The second half of setting up a second factor: a code from the authenticator shows that it holds the secret, and the
 * recovery codes are shown, once.
 */
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
    answersSecret: {},
    attemptsPerMinuteMax,
    handle: async (request) => {
      const outcome = await parts.secondFactors.confirm(callerOf(request), request.body.code);
      return answerTo(outcome, 200, ({ recoveryCodes }) => ({ recovery_codes: recoveryCodes }));
    },
  });
}

/** A proof of the second factor for one named action and its parameters, of short life and for one use. */
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
    answersSecret: {},
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

// The people of the embedded provider, and the second admin's signature.

import { z } from "zod";
import type { Route } from "../../../ports/http.ts";
import type { AskedBy } from "../../../ports/operators.ts";
import { answerOrRequest, answerTo } from "../answers.ts";
import { callerOf, defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import {
  addOperatorBody,
  changedJson,
  changedOperatorAnswer,
  cosignBody,
  cosignedAnswer,
  cosignedJson,
  disableOperatorBody,
  operatorAnswer,
  operatorJson,
  operatorParams,
  operatorRolesBody,
  operatorsQuery,
  requestAnswer,
  requestedAnswer,
  requestedJson,
  requestJson,
  requestParams,
  resetFactorBody,
} from "../schemas/operators.ts";
import { fetchedCount, pageOf } from "../schemas/paging.ts";

type Parts = Pick<GatewayParts, "operators">;

const operatorsUsual = 1_000;

function askedBy(
  request: Parameters<typeof callerOf>[0],
  { reason, step_up_proof: proof }: { readonly reason: string; readonly step_up_proof?: string | undefined },
): AskedBy {
  return { identity: callerOf(request), reason, proof };
}

/** Everybody who may log in or could before, by name. */
export function operatorsList(parts: Parts): Route {
  return defineRoute({
    id: "listOperators",
    method: "GET",
    path: "/v1/auth/operators",
    listeners: ["operator"],
    sentence: "The people of the embedded provider, the disabled ones included.",
    operation: "ListOperators",
    query: operatorsQuery,
    answers: { 200: z.array(operatorAnswer) },
    handle: async ({ query }) => {
      const asked = { ...query, count_max: query.count_max ?? operatorsUsual };
      const fetched = await parts.operators.list({ countMax: fetchedCount(asked), after: query.after });
      const { rows, more } = pageOf("/v1/auth/operators", asked, fetched.map(operatorJson), ({ name }) => name);
      return { status: 200, body: rows, ...more };
    },
  });
}

export function operatorAdd(parts: Parts): Route {
  return defineRoute({
    id: "addOperator",
    method: "POST",
    path: "/v1/auth/operators",
    listeners: ["operator"],
    sentence: "Let another person log in; in production a second admin signs, and each gets half of the password.",
    operation: "AddOperator",
    body: addOperatorBody,
    answers: { 201: changedOperatorAnswer, 202: requestedAnswer },
    answersSecret: {},
    handle: async (request) => {
      const { name, roles } = request.body;
      const outcome = await parts.operators.add(askedBy(request, request.body), { name, roles });
      return answerOrRequest(outcome, 201, changedJson, requestedJson);
    },
  });
}

export function operatorRoles(parts: Parts): Route {
  return defineRoute({
    id: "changeOperatorRoles",
    method: "POST",
    path: "/v1/auth/operators/:name/roles",
    listeners: ["operator"],
    sentence: "Give a person these roles instead of those that they have; their logins end.",
    operation: "ChangeOperatorRoles",
    params: operatorParams,
    body: operatorRolesBody,
    answers: { 200: changedOperatorAnswer, 202: requestedAnswer },
    handle: async (request) => {
      const person = { name: request.params.name, roles: request.body.roles };
      const outcome = await parts.operators.changeRoles(askedBy(request, request.body), person);
      return answerOrRequest(outcome, 200, changedJson, requestedJson);
    },
  });
}

export function operatorDisable(parts: Parts): Route {
  return defineRoute({
    id: "disableOperator",
    method: "POST",
    path: "/v1/auth/operators/:name/disable",
    listeners: ["operator"],
    sentence: "Lock a person out at once: logins, requests and the machines' tokens that they gave alone end.",
    operation: "DisableOperator",
    params: operatorParams,
    body: disableOperatorBody,
    answers: { 200: changedOperatorAnswer },
    handle: async (request) => {
      const person = { name: request.params.name, keepTokens: request.body.keep_tokens ?? false };
      return answerTo(await parts.operators.disable(askedBy(request, request.body), person), 200, changedJson);
    },
  });
}

export function operatorFactorReset(parts: Parts): Route {
  return defineRoute({
    id: "resetOperatorFactor",
    method: "POST",
    path: "/v1/auth/operators/:name/reset-factor",
    listeners: ["operator"],
    sentence: "Take a person's second factor away; they log in with their password and set up another one.",
    operation: "ResetOperatorFactor",
    params: operatorParams,
    body: resetFactorBody,
    answers: { 200: changedOperatorAnswer, 202: requestedAnswer },
    handle: async (request) => {
      const outcome = await parts.operators.resetFactor(askedBy(request, request.body), request.params.name);
      return answerOrRequest(outcome, 200, changedJson, requestedJson);
    },
  });
}

/** A hundred may wait, so that this is one page. */
export function identityRequestsList(parts: Pick<GatewayParts, "identityRequests">): Route {
  return defineRoute({
    id: "listIdentityRequests",
    method: "GET",
    path: "/v1/auth/requests",
    listeners: ["operator"],
    sentence: "What waits for a second admin's signature, oldest first.",
    operation: "ListIdentityRequests",
    answers: { 200: z.array(requestAnswer) },
    handle: async () => ({ status: 200, body: (await parts.identityRequests.list()).map(requestJson) }),
  });
}

export function identityRequestCosign(parts: Pick<GatewayParts, "identityRequests">): Route {
  return defineRoute({
    id: "cosignIdentityRequest",
    method: "POST",
    path: "/v1/auth/requests/:request_id/cosign",
    listeners: ["operator"],
    sentence: "Sign another admin's request: what it asks for is done now, once.",
    operation: "CosignIdentityRequest",
    params: requestParams,
    body: cosignBody,
    answers: { 200: cosignedAnswer },
    answersSecret: { id: "request_id" },
    handle: async (request) => {
      const asked = { identity: callerOf(request), proof: request.body.step_up_proof };
      return answerTo(await parts.identityRequests.cosign(asked, request.params.request_id), 200, cosignedJson);
    },
  });
}

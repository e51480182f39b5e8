// Tokens of machines.

import { z } from "zod";
import type { Route } from "../../../ports/http.ts";
import { answerOrRequest, answerTo } from "../answers.ts";
import { callerOf, defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { requestedAnswer, requestedJson } from "../schemas/operators.ts";
import { fetchedCount, pageOf } from "../schemas/paging.ts";
import {
  issueBody,
  issuedTokenAnswer,
  issuedTokenJson,
  revokeQuery,
  rotateBody,
  serviceTokenAnswer,
  serviceTokenJson,
  tokenParams,
  tokensQuery,
} from "../schemas/service-token.ts";

/** As many as may work at once; those that ran out or were revoked follow page by page. */
const tokensUsual = 1_000;

/** A new token for a machine: named, narrowed to some operations, and running out. It needs a proof of the second factor. */
export function serviceTokenIssue(parts: Pick<GatewayParts, "serviceTokens">): Route {
  return defineRoute({
    id: "issueServiceToken",
    method: "POST",
    path: "/v1/service-tokens",
    listeners: ["operator"],
    sentence: "Give a machine a token for named operations; its value is shown once.",
    operation: "IssueServiceToken",
    body: issueBody,
    answers: { 201: issuedTokenAnswer, 202: requestedAnswer },
    answersSecret: { id: "id" },
    handle: async (request) => {
      const { name, operations, funds, nats_logins: natsLogins, expires_in_s: expiresInS } = request.body;
      const { step_up_proof: proof, reason } = request.body;
      const tokenRequest = { name, operations, funds, natsLogins, expiresInS };
      const outcome = await parts.serviceTokens.issue(callerOf(request), tokenRequest, proof, reason);
      return answerOrRequest(outcome, 201, issuedTokenJson, requestedJson);
    },
  });
}

/** A machine's token taken away. It needs no proof: nobody should have to look for a telephone to shut a door. */
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

/** A machine's token replaced by a new one, with a time in which both work. It needs a proof of the second factor. */
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
    answers: { 201: issuedTokenAnswer, 202: requestedAnswer },
    answersSecret: { id: "id" },
    handle: async (request) => {
      const { overlap_s: overlapS, expires_in_s: expiresInS, step_up_proof: proof, reason } = request.body;
      const tokenRequest = { id: request.params.token_id, overlapS, expiresInS };
      const outcome = await parts.serviceTokens.rotate(callerOf(request), tokenRequest, proof, reason);
      return answerOrRequest(outcome, 201, issuedTokenJson, requestedJson);
    },
  });
}

/** Every machine's token by name, never by value. */
export function serviceTokensList(parts: Pick<GatewayParts, "serviceTokens">): Route {
  return defineRoute({
    id: "listServiceTokens",
    method: "GET",
    path: "/v1/service-tokens",
    listeners: ["operator"],
    sentence: "Every machine's token, newest first; never its value.",
    operation: "ListServiceTokens",
    query: tokensQuery,
    answers: { 200: z.array(serviceTokenAnswer) },
    handle: async ({ query }) => {
      const asked = { ...query, count_max: query.count_max ?? tokensUsual };
      const fetched = await parts.serviceTokens.list({ countMax: fetchedCount(asked), after: query.after });
      const { rows, more } = pageOf("/v1/service-tokens", asked, fetched.map(serviceTokenJson), ({ id }) => id);
      return { status: 200, body: rows, ...more };
    },
  });
}

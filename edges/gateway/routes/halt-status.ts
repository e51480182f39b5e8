// GET /v1/halts/status: what halts a fund, a strategy or anything, and how far what follows each latch has come.
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { declaredPlace } from "../declared/route.ts";
import { defineRoute } from "../define-route.ts";
import { askHaltStatus } from "../halt-scope.ts";
import type { GatewayParts } from "../parts.ts";
import { haltStatusAnswer, haltStatusQuery, toldStatus } from "../schemas/halts.ts";

export function haltStatus(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    ...declaredPlace("getHaltStatus"),
    query: haltStatusQuery,
    answers: { 200: haltStatusAnswer },
    handle: async (request) => {
      const { outcome, strategyId } = await askHaltStatus(parts, request, request.query.id);
      return answerTo(outcome, 200, (status) => toldStatus(status, strategyId));
    },
  });
}

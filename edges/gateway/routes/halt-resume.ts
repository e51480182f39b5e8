// POST /v1/halts/resume: lifts one scope's halts, asks for every halt to be lifted, or signs another operator's request for that.
import type { HaltStatus, ResumeRequest } from "../../../contracts/src/generated/svc/v1/halt.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService } from "../ask-service.ts";
import { declaredPlace } from "../declared/route.ts";
import { defineRoute } from "../define-route.ts";
import { namedScope } from "../halt-scope.ts";
import type { GatewayParts } from "../parts.ts";
import { haltStatusAnswer, resumeBody, toldStatus } from "../schemas/halts.ts";

export function haltResume(parts: Pick<GatewayParts, "services" | "ownToken">): Route {
  return defineRoute({
    ...declaredPlace("resumeHalt"),
    body: resumeBody,
    answers: { 200: haltStatusAnswer },
    handle: async (request) => {
      const { id, halt_ids, ...rest } = request.body;
      const scope = id === undefined ? {} : await namedScope(parts, request, id);
      const message: ResumeRequest = { ...rest, ...scope, halt_ids: halt_ids ?? [] };
      const outcome = await askService<ResumeRequest, HaltStatus>(parts, request, {
        service: "Operations",
        method: "ResumeHalt",
        message,
      });
      return answerTo(outcome, 200, (status) => toldStatus(status, message.strategy_id));
    },
  });
}

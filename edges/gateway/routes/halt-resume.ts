// POST /v1/halts/resume: lifts one scope's halts, asks for every halt to be lifted, or signs another operator's request for that.
import type { HaltStatus, ResumeRequest } from "../../../contracts/src/generated/svc/v1/halt.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import { namedScope } from "../halt-scope.ts";
import { attemptsPerMinuteMax, type GatewayParts } from "../parts.ts";
import { haltStatusAnswer, resumeBody, toldStatus } from "../schemas/halts.ts";

export function haltResume(parts: Pick<GatewayParts, "services" | "ownToken">): Route {
  return defineRoute({
    id: "resumeHalt",
    method: "POST",
    path: "/v1/halts/resume",
    listeners: ["operator"],
    sentence: "Lift the halts of a fund or strategy, ask for every halt to be lifted, or sign such a request.",
    operation: "ResumeHalt",
    attemptsPerMinuteMax,
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
      return answerTo(outcome, 200, (status) => plain(toldStatus(status, message.strategy_id)));
    },
  });
}

// POST /v1/operations/parked/retry: hands an event that was put aside to its subscription again, and says what came of it.
import type { ParkedRetry, RetryParkedRequest } from "../../../contracts/src/generated/svc/v1/riskworkers.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { parkedRetryAnswer, retryParkedBody } from "../schemas/parked.ts";

export function parkedRetry(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "retryParked",
    method: "POST",
    path: "/v1/operations/parked/retry",
    listeners: ["operator"],
    sentence: "Have an event that was put aside tried again.",
    operation: "RetryParked",
    body: retryParkedBody,
    answers: { 200: parkedRetryAnswer },
    handle: async (request) => {
      const outcome = await askService<RetryParkedRequest, ParkedRetry>(parts, request, {
        service: "RiskWorkers",
        method: "RetryParked",
        message: { ...request.body, reason: request.body.reason ?? "" },
      });
      return answerTo(outcome, 200, ({ error, ...rest }) => plain({ ...rest, ...(error === "" ? {} : { error }) }));
    },
  });
}

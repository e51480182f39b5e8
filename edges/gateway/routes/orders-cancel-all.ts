// POST /v1/oms/cancel-all: wants every open order gone, of one fund or of all.
import type { CancelAllRequest, OrderStatuses } from "../../../contracts/src/generated/svc/v1/platform.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { cancelAllAnswer, cancelAllBody } from "../schemas/orders.ts";

export function ordersCancelAll(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "cancelAllOrders",
    method: "POST",
    path: "/v1/oms/cancel-all",
    listeners: ["operator"],
    sentence: "Cancel every open order; the answer tells the outcome of each.",
    operation: "CancelAll",
    body: cancelAllBody,
    answers: { 200: cancelAllAnswer },
    handle: async (request) => {
      const outcome = await askService<CancelAllRequest, OrderStatuses>(parts, request, {
        service: "Oms",
        method: "CancelAll",
        message: { ...request.body, reason: request.body.reason ?? "" },
      });
      return answerTo(outcome, 200, (all) => plain(all));
    },
  });
}

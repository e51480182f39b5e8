// POST /v1/oms/orders/:order_id/amend: new terms for an open order, checked like an order of their own.
import type { AmendOrderRequest, OrderStatus } from "../../../contracts/src/generated/svc/v1/platform.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { amendOrderBody, orderAnswer, orderIdParams } from "../schemas/orders.ts";

export function orderAmend(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "amendOrder",
    method: "POST",
    path: "/v1/oms/orders/:order_id/amend",
    listeners: ["operator"],
    sentence: "Change an open order; the change is checked like a new one.",
    operation: "AmendOrder",
    params: orderIdParams,
    body: amendOrderBody,
    answers: { 200: orderAnswer },
    handle: async (request) => {
      const outcome = await askService<AmendOrderRequest, OrderStatus>(parts, request, {
        service: "Oms",
        method: "AmendOrder",
        message: { ...request.body, order_id: request.params.order_id, reason: request.body.reason ?? "" },
      });
      return answerTo(outcome, 200, plain);
    },
  });
}

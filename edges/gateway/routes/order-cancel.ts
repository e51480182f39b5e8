// POST /v1/oms/orders/:order_id/cancel: wants an order gone. The answer says whether it is: a broker may have filled it first.
import type { CancelOrderRequest, OrderStatus } from "../../../contracts/src/generated/svc/v1/platform.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { cancelOrderBody, orderAnswer, orderIdParams } from "../schemas/orders.ts";

export function orderCancel(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "cancelOrder",
    method: "POST",
    path: "/v1/oms/orders/:order_id/cancel",
    listeners: ["operator"],
    sentence: "Cancel an open order; CANCEL_PENDING means that the broker has not confirmed it yet.",
    operation: "CancelOrder",
    params: orderIdParams,
    body: cancelOrderBody,
    answers: { 200: orderAnswer },
    handle: async (request) => {
      const outcome = await askService<CancelOrderRequest, OrderStatus>(parts, request, {
        service: "Oms",
        method: "CancelOrder",
        message: { order_id: request.params.order_id, reason: request.body.reason ?? "" },
      });
      return answerTo(outcome, 200, plain);
    },
  });
}

// POST /v1/oms/orders: an order is handed in, checked and routed. The answer says how far it came; being accepted is not being filled.
import type { Order } from "../../../contracts/src/generated/svc/v1/order.ts";
import type { OrderStatus } from "../../../contracts/src/generated/svc/v1/platform.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { declaredAnswers, declaredPlace } from "../declared/route.ts";
import { callerOf, defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { submitOrderBody } from "../schemas/orders.ts";

export function orderSubmit(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    ...declaredPlace("submitOrder"),
    body: submitOrderBody,
    answers: declaredAnswers("submitOrder"),
    handle: async (request) => {
      const outcome = await askService<Order, OrderStatus>(parts, request, {
        service: "Oms",
        method: "SubmitOrder",
        message: {
          ...request.body,
          order_id: request.body.order_id ?? "",
          actor: request.body.actor ?? callerOf(request).actor,
        },
      });
      return answerTo(outcome, 200, plain);
    },
  });
}

// GET /v1/oms/orders/:order_id: one order and what became of it.
import type { GetOrderRequest, OrderStatus } from "../../../contracts/src/generated/svc/v1/platform.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { orderAnswer, orderIdParams } from "../schemas/orders.ts";

export function order(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "getOrder",
    method: "GET",
    path: "/v1/oms/orders/:order_id",
    listeners: ["operator"],
    sentence: "Get one order and what became of it.",
    operation: "GetOrder",
    params: orderIdParams,
    answers: { 200: orderAnswer },
    handle: async (request) => {
      const outcome = await askService<GetOrderRequest, OrderStatus>(parts, request, {
        service: "Oms",
        method: "GetOrder",
        message: { order_id: request.params.order_id },
      });
      return answerTo(outcome, 200, plain);
    },
  });
}

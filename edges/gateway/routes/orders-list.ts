// GET /v1/oms/orders: orders and what became of them, newest first, page by page.
import type { ListOrdersRequest, OrderStatuses } from "../../../contracts/src/generated/svc/v1/platform.ts";
import type { Route } from "../../../ports/http.ts";
import { denied } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { ordersAnswer, ordersQuery } from "../schemas/orders.ts";
import { fetchedCount, pageOf } from "../schemas/paging.ts";

const path = "/v1/oms/orders";

export function ordersList(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "listOrders",
    method: "GET",
    path,
    listeners: ["operator"],
    sentence: "List orders and what became of them, newest first.",
    operation: "ListOrders",
    query: ordersQuery,
    answers: { 200: ordersAnswer },
    handle: async (request) => {
      const outcome = await askService<ListOrdersRequest, OrderStatuses>(parts, request, {
        service: "Oms",
        method: "ListOrders",
        message: {
          fund_id: request.query.fund_id,
          open_only: request.query.open ?? false,
          count_max: fetchedCount(request.query),
          after_order_id: request.query.after,
        },
      });
      if (!outcome.ok) return denied(outcome);
      const { rows, more } = pageOf(path, request.query, outcome.value.orders, (one) => one.order?.order_id ?? "");
      return { status: 200, body: plain(rows), ...more };
    },
  });
}

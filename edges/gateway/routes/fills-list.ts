// GET /v1/oms/fills: trades, newest first, page by page.
import type { Fills, ListFillsRequest } from "../../../contracts/src/generated/svc/v1/platform.ts";
import type { Route } from "../../../ports/http.ts";
import { denied } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { fillsAnswer, fillsQuery } from "../schemas/orders.ts";
import { fetchedCount, pageOf } from "../schemas/paging.ts";

const path = "/v1/oms/fills";

export function fillsList(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "listFills",
    method: "GET",
    path,
    listeners: ["operator"],
    sentence: "List trades, newest first.",
    operation: "ListFills",
    query: fillsQuery,
    answers: { 200: fillsAnswer },
    handle: async (request) => {
      const outcome = await askService<ListFillsRequest, Fills>(parts, request, {
        service: "Oms",
        method: "ListFills",
        message: {
          fund_id: request.query.fund_id,
          order_id: request.query.order_id,
          count_max: fetchedCount(request.query),
          after_fill_id: request.query.after,
        },
      });
      if (!outcome.ok) return denied(outcome);
      const { rows, more } = pageOf(path, request.query, outcome.value.fills, (one) => one.fill_id);
      return { status: 200, body: plain(rows), ...more };
    },
  });
}

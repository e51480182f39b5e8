// GET /v1/treasury/navs: what a fund was worth over time, oldest first.
import type { ListNavsRequest, Navs } from "../../../contracts/src/generated/svc/v1/platform.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { navsAnswer, navsQuery } from "../schemas/accounts.ts";

export function navsList(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "listNavs",
    method: "GET",
    path: "/v1/treasury/navs",
    listeners: ["operator"],
    sentence: "List what a fund was worth over time, oldest first.",
    operation: "ListNavs",
    query: navsQuery,
    answers: { 200: navsAnswer },
    handle: async (request) => {
      const { every, count_max, ...rest } = request.query;
      const outcome = await askService<ListNavsRequest, Navs>(parts, request, {
        service: "Treasury",
        method: "ListNavs",
        message: { ...rest, every: every ?? "", count_max: count_max ?? 0 },
      });
      return answerTo(outcome, 200, ({ navs }) => plain(navs));
    },
  });
}

// GET /v1/halts: every halt in force, at all levels.
import type { ActiveHalts, ListActiveHaltsRequest } from "../../../contracts/src/generated/svc/v1/halt.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { haltsAnswer, toldHalt } from "../schemas/halts.ts";

export function haltsList(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "listHalts",
    method: "GET",
    path: "/v1/halts",
    listeners: ["operator"],
    sentence: "List every halt in force.",
    operation: "ListActiveHalts",
    answers: { 200: haltsAnswer },
    handle: async (request) => {
      const outcome = await askService<ListActiveHaltsRequest, ActiveHalts>(parts, request, {
        service: "Operations",
        method: "ListActiveHalts",
        message: {},
      });
      return answerTo(outcome, 200, ({ halts }) => plain(halts.map(toldHalt)));
    },
  });
}

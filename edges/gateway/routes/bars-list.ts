// GET /v1/market/bars/:symbol: how a price moved, oldest first.
import type { Bars, ListBarsRequest } from "../../../contracts/src/generated/svc/v1/marketdesk.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askDeclared, declared, declaredMessage, declaredTold } from "../declared/route.ts";
import type { GatewayParts } from "../parts.ts";
import { nextBars } from "../schemas/market.ts";

export function barsList(parts: Pick<GatewayParts, "services">): Route {
  return {
    ...declared("listBars"),
    handle: async (request) => {
      const message = declaredMessage<ListBarsRequest>("listBars", request);
      const outcome = await askDeclared<Bars>("listBars", parts, request, message);
      const answer = answerTo(outcome, 200, (bars) => declaredTold("listBars", bars));
      const path = `/v1/market/bars/${encodeURIComponent(message.symbol)}`;
      const headers = outcome.ok ? nextBars(path, request.query as object, outcome.value.next_start) : undefined;
      return headers === undefined ? answer : { ...answer, headers };
    },
  };
}

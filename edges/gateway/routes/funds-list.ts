// GET /v1/treasury/funds: the funds, what they are worth, and whether they are halted.
import type { Funds, ListFundsRequest } from "../../../contracts/src/generated/svc/v1/platform.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { declaredPlace } from "../declared/route.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { fundsAnswer, toldFund } from "../schemas/treasury.ts";

export function fundsList(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    ...declaredPlace("listFunds"),
    answers: { 200: fundsAnswer },
    handle: async (request) => {
      const outcome = await askService<ListFundsRequest, Funds>(parts, request, {
        service: "Treasury",
        method: "ListFunds",
        message: {},
      });
      return answerTo(outcome, 200, ({ funds }) => plain(funds.map(toldFund)));
    },
  });
}

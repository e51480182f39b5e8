// GET /v1/treasury/instruments: what may be traded, and in which steps.
import type { Instruments, ListInstrumentsRequest } from "../../../contracts/src/generated/svc/v1/platform.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { instrumentsAnswer } from "../schemas/treasury.ts";

export function instrumentsList(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "listInstruments",
    method: "GET",
    path: "/v1/treasury/instruments",
    listeners: ["operator"],
    sentence: "List the instruments that may be traded.",
    operation: "ListInstruments",
    answers: { 200: instrumentsAnswer },
    handle: async (request) => {
      const outcome = await askService<ListInstrumentsRequest, Instruments>(parts, request, {
        service: "Treasury",
        method: "ListInstruments",
        message: {},
      });
      return answerTo(outcome, 200, ({ instruments }) => plain(instruments));
    },
  });
}

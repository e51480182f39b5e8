// GET /v1/riskengine/envelopes/:fund_id/history: every version of a fund's limits, with who set it and why.

import { z } from "zod";
import type { Envelopes, ListEnvelopesRequest } from "../../../contracts/src/generated/svc/v1/riskdesk.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { envelopeAnswer, fundParams, historyQuery } from "../schemas/envelope.ts";

export function envelopeHistory(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "listEnvelopes",
    method: "GET",
    path: "/v1/riskengine/envelopes/:fund_id/history",
    listeners: ["operator"],
    sentence: "List the versions of a fund's limits, newest first.",
    operation: "ListEnvelopes",
    params: fundParams,
    query: historyQuery,
    answers: { 200: z.array(envelopeAnswer) },
    handle: async (request) => {
      const outcome = await askService<ListEnvelopesRequest, Envelopes>(parts, request, {
        service: "RiskDesk",
        method: "ListEnvelopes",
        message: { fund_id: request.params.fund_id, count_max: request.query.count_max ?? 0 },
      });
      return answerTo(outcome, 200, ({ envelopes }) => plain(envelopes));
    },
  });
}

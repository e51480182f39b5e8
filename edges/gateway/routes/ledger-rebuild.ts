// POST /v1/treasury/ledgers/:fund_id/rebuild: positions, cash and balances of a paper fund, made anew from its trades and entries.
import type { LedgerRebuild, RebuildLedgerRequest } from "../../../contracts/src/generated/svc/v1/platform.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { ledgerRebuildAnswer, rebuildLedgerBody } from "../schemas/accounts.ts";
import { fundParams } from "../schemas/envelope.ts";

export function ledgerRebuild(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "rebuildLedger",
    method: "POST",
    path: "/v1/treasury/ledgers/:fund_id/rebuild",
    listeners: ["operator"],
    sentence: "Rebuild a paper fund's positions and cash from its trades and entries.",
    operation: "RebuildLedger",
    params: fundParams,
    body: rebuildLedgerBody,
    answers: { 200: ledgerRebuildAnswer },
    handle: async (request) => {
      const { reason = "", dry_run = false, step_up_proof = "" } = request.body;
      const outcome = await askService<RebuildLedgerRequest, LedgerRebuild>(parts, request, {
        service: "Treasury",
        method: "RebuildLedger",
        message: { fund_id: request.params.fund_id, reason, dry_run, step_up_proof },
      });
      return answerTo(outcome, 200, plain);
    },
  });
}

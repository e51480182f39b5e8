// POST /v1/riskengine/flat-proofs: asks the broker whether a fund is flat, and records the answer.
import type { FlatProof, ProveFlatRequest } from "../../../contracts/src/generated/svc/v1/riskworkers.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { flatProofAnswer, proveFlatBody, toldProof } from "../schemas/risk-workers.ts";

export function flatProve(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "proveFlat",
    method: "POST",
    path: "/v1/riskengine/flat-proofs",
    listeners: ["operator"],
    sentence: "Ask the broker whether a fund is flat, and record the answer.",
    operation: "ProveFlat",
    body: proveFlatBody,
    answers: { 200: flatProofAnswer },
    handle: async (request) => {
      const outcome = await askService<ProveFlatRequest, FlatProof>(parts, request, {
        service: "RiskWorkers",
        method: "ProveFlat",
        message: { fund_id: request.body.fund_id, reason: request.body.reason ?? "" },
      });
      return answerTo(outcome, 200, (proof) => plain(toldProof(proof)));
    },
  });
}

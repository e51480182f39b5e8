// GET /v1/riskengine/blocks: every standing condition that denies new risk now.
import type { Blocks, ListBlocksRequest } from "../../../contracts/src/generated/svc/v1/riskengine.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { blocksAnswer, blocksQuery } from "../schemas/risk.ts";

export function blocksList(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "listBlocks",
    method: "GET",
    path: "/v1/riskengine/blocks",
    listeners: ["operator"],
    sentence: "See which standing conditions deny new risk, since when, and what ends them.",
    operation: "ListBlocks",
    query: blocksQuery,
    answers: { 200: blocksAnswer },
    handle: async (request) => {
      const outcome = await askService<ListBlocksRequest, Blocks>(parts, request, {
        service: "RiskEngine",
        method: "ListBlocks",
        message: { fund_id: request.query.fund_id },
      });
      return answerTo(outcome, 200, ({ blocks }) =>
        blocks.map((block) => ({ ...plain(block), since: block.since ?? null })),
      );
    },
  });
}

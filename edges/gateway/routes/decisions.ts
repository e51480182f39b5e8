// GET /v1/riskengine/decisions/:order_id: why an order was approved or denied, the whole record of it.

import { Fault } from "../../../contracts/src/fault.ts";
import type { DecisionRecords } from "../../../contracts/src/generated/svc/v1/riskdesk.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askDeclared, declared, declaredMessage, declaredTold } from "../declared/route.ts";
import type { GatewayParts } from "../parts.ts";

export function decisions(parts: Pick<GatewayParts, "services">): Route {
  return {
    ...declared("getDecisions"),
    handle: async (request) => {
      const message = declaredMessage("getDecisions", request);
      const outcome = await askDeclared<DecisionRecords>("getDecisions", parts, request, message);
      if (outcome.ok && outcome.value.records.length === 0) {
        throw new Fault("NOT_FOUND", "No decision about an order of that id is on record.", { retry: "never" });
      }
      return answerTo(outcome, 200, (records) => declaredTold("getDecisions", records));
    },
  };
}

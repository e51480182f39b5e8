// GET /v1/riskengine/stops: the synthetic stops: those that rest, and those that fired and wait for their exit.
import type { Stops } from "../../../contracts/src/generated/svc/v1/riskworkers.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askDeclared, declared, declaredMessage, declaredTold } from "../declared/route.ts";
import type { GatewayParts } from "../parts.ts";

export function stopsList(parts: Pick<GatewayParts, "services">): Route {
  return {
    ...declared("listStops"),
    handle: async (request) => {
      const message = declaredMessage("listStops", request);
      const outcome = await askDeclared<Stops>("listStops", parts, request, message);
      const answer = answerTo(outcome, 200, (stops) => declaredTold("listStops", stops));
      const headers = { "portcullis-stops-enabled": String(outcome.ok && outcome.value.enabled) };
      return answer.status < 400 ? { ...answer, headers } : answer;
    },
  };
}

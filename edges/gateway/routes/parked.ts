// Events that a subscription put aside, page by page, with how many there are altogether.
import type { ParkedEvents } from "../../../contracts/src/generated/svc/v1/riskworkers.ts";
import type { Route } from "../../../ports/http.ts";
import { denied } from "../answers.ts";
import { askDeclared, declarationOf, declared, declaredBody, declaredMessage } from "../declared/route.ts";
import type { GatewayParts } from "../parts.ts";
import { fetchedCount, pageOf } from "../schemas/paging.ts";

type Parked = Pick<ParkedEvents["events"][number], "subscription" | "event_id">;

/** GET /v1/operations/parked */
export function parkedList(parts: Pick<GatewayParts, "services">): Route {
  return {
    ...declared("listParked"),
    handle: async (request) => {
      const query = request.query as { readonly count_max?: number };
      const message = { ...declaredMessage("listParked", request), count_max: fetchedCount(query) };
      const outcome = await askDeclared<ParkedEvents>("listParked", parts, request, message);
      if (!outcome.ok) return denied(outcome);
      const answer = declaredBody("listParked", outcome.value) as { readonly events: readonly Parked[] };
      const { path } = declarationOf("listParked");
      const { rows, more } = pageOf(path, query, answer.events, (one) => `${one.subscription}/${one.event_id}`);
      return { status: 200, body: { ...answer, events: rows }, ...more };
    },
  };
}

// GET /v1/riskengine/rejections: denied orders, newest first, page by page.
import type { ListRejectionsRequest, Rejections } from "../../../contracts/src/generated/svc/v1/riskdesk.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { type RejectionsQuery, rejectionsAnswer, rejectionsQuery } from "../schemas/risk.ts";

const path = "/v1/riskengine/rejections";

export function rejectionsList(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "listRejections",
    method: "GET",
    path,
    listeners: ["operator"],
    sentence: "List denied orders, newest first.",
    operation: "ListRejections",
    query: rejectionsQuery,
    answers: { 200: rejectionsAnswer },
    handle: async (request) => {
      const { fund_id, hours, count_max, after } = request.query;
      const outcome = await askService<ListRejectionsRequest, Rejections>(parts, request, {
        service: "RiskDesk",
        method: "ListRejections",
        message: { fund_id, hours: hours ?? 0, count_max: count_max ?? 0, after_decision_id: after },
      });
      const answer = answerTo(outcome, 200, ({ rejections }) => plain(rejections));
      return outcome.ok ? { ...answer, ...nextPage(outcome.value, request.query) } : answer;
    },
  });
}

/** RFC 8288; whoever follows it asks the same question and goes on where this page ends. */
function nextPage({ rejections, more }: Rejections, query: RejectionsQuery): { headers?: { link: string } } {
  const last = rejections.at(-1);
  if (!more || last === undefined) return {};
  const asked = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...query, after: last.decision_id })) {
    if (value !== undefined) asked.set(name, String(value));
  }
  return { headers: { link: `<${path}?${asked}>; rel="next"` } };
}

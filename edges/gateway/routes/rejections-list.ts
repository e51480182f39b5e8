// GET /v1/riskengine/rejections: denied orders, newest first, page by page.
import type { Rejections } from "../../../contracts/src/generated/svc/v1/riskdesk.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo } from "../answers.ts";
import { plain } from "../ask-service.ts";
import { askDeclared, declarationOf, declaredMessage, declaredRequest } from "../declared/route.ts";
import type { GatewayParts } from "../parts.ts";
import { rejectionsAnswer } from "../schemas/risk.ts";

export function rejectionsList(parts: Pick<GatewayParts, "services">): Route {
  return {
    ...declaredRequest("listRejections"),
    answers: { 200: rejectionsAnswer },
    handle: async (request) => {
      const message = declaredMessage("listRejections", request);
      const outcome = await askDeclared<Rejections>("listRejections", parts, request, message);
      const answer = answerTo(outcome, 200, ({ rejections }) => plain(rejections));
      return outcome.ok ? { ...answer, ...nextPage(outcome.value, request.query as object) } : answer;
    },
  };
}

/** RFC 8288; whoever follows it asks the same question and goes on where this page ends. */
function nextPage({ rejections, more }: Rejections, query: object): { headers?: { link: string } } {
  const last = rejections.at(-1);
  if (!more || last === undefined) return {};
  const asked = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...query, after: last.decision_id })) {
    if (value !== undefined) asked.set(name, String(value));
  }
  return { headers: { link: `<${declarationOf("listRejections").path}?${asked}>; rel="next"` } };
}

// What the risk engine decided, refused and watches, and what happened to a fund.
import { Fault } from "../../../contracts/src/fault.ts";
import type { ListTimelineRequest, Timeline } from "../../../contracts/src/generated/svc/v1/replay.ts";
import type { DecisionRecords, Rejections } from "../../../contracts/src/generated/svc/v1/riskdesk.ts";
import type { Stops } from "../../../contracts/src/generated/svc/v1/riskworkers.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo, denied } from "../answers.ts";
import { plain } from "../ask-service.ts";
import {
  askDeclared,
  declarationOf,
  declared,
  declaredBody,
  declaredMessage,
  declaredRequest,
} from "../declared/route.ts";
import type { GatewayParts } from "../parts.ts";
import { fetchedCount, nextLink, pageOf } from "../schemas/paging.ts";
import { rejectionsAnswer } from "../schemas/risk.ts";

/** GET /v1/riskengine/decisions/:order_id: why an order was approved or denied, the whole record of it. */
export function decisions(parts: Pick<GatewayParts, "services">): Route {
  return {
    ...declared("getDecisions"),
    handle: async (request) => {
      const message = declaredMessage("getDecisions", request);
      const outcome = await askDeclared<DecisionRecords>("getDecisions", parts, request, message);
      if (outcome.ok && outcome.value.records.length === 0) {
        throw new Fault("NOT_FOUND", "No decision about an order of that id is on record.", { retry: "never" });
      }
      return answerTo(outcome, 200, (records) => declaredBody("getDecisions", records));
    },
  };
}

/** GET /v1/riskengine/rejections: denied orders, newest first, page by page. */
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

function nextPage({ rejections, more }: Rejections, query: object): { headers?: { link: string } } {
  const last = rejections.at(-1);
  if (!more || last === undefined) return {};
  return { headers: { link: nextLink(declarationOf("listRejections").path, query, last.decision_id) } };
}

/** Of stops that ended, where nobody says how many. */
const endedUsual = 1_000;

/** GET /v1/riskengine/stops: the synthetic stops: those that rest, and those that fired and wait for their exit. */
export function stopsList(parts: Pick<GatewayParts, "services">): Route {
  return {
    ...declared("listStops"),
    handle: async (request) => {
      const query = request.query as { readonly ended_hours?: number; readonly count_max?: number };
      const asked = { count_max: endedUsual, ...query };
      const isPaged = query.ended_hours !== undefined;
      const message = { ...declaredMessage("listStops", request), ...(isPaged && { count_max: fetchedCount(asked) }) };
      const outcome = await askDeclared<Stops>("listStops", parts, request, message);
      if (!outcome.ok) return denied(outcome);
      const fetched = declaredBody("listStops", outcome.value) as readonly { readonly stop_id?: string }[];
      const { path } = declarationOf("listStops");
      const { rows, more } = isPaged
        ? pageOf(path, asked, fetched, (one) => one.stop_id ?? "")
        : { rows: fetched, more: {} };
      const headers = { ...more.headers, "portcullis-stops-enabled": String(outcome.value.enabled) };
      return { status: 200, body: rows, headers };
    },
  };
}

/** Events of one piece. */
const pieceMax = 50;

interface EventRow {
  readonly event_id: string;
}

/**
 * GET /v1/replay/timeline: what was recorded, oldest first. A page of decisions is long to read and to write, and a halt goes through this process as well: it
 * is asked for and read piece by piece.
 */
export function timelineList(parts: Pick<GatewayParts, "services">): Route {
  return {
    ...declared("listTimeline"),
    handle: async (request) => {
      const query = request.query as { readonly count_max?: number };
      const wanted = fetchedCount(query);
      const message = declaredMessage<ListTimelineRequest>("listTimeline", request);
      const fetched: EventRow[] = [];
      for (let isLast = false; !isLast; ) {
        const count_max = Math.min(pieceMax, wanted - fetched.length);
        const behind = fetched.length === 0 ? {} : { after_event_id: fetched.at(-1)?.event_id };
        const piece = { ...message, ...behind, count_max };
        const outcome = await askDeclared<Timeline>("listTimeline", parts, request, piece);
        if (!outcome.ok) return denied(outcome);
        const rows = declaredBody("listTimeline", outcome.value) as readonly EventRow[];
        fetched.push(...rows);
        isLast = rows.length < count_max || fetched.length >= wanted;
      }
      const { rows, more } = pageOf(declarationOf("listTimeline").path, query, fetched, (row) => row.event_id);
      return { status: 200, body: rows, ...more };
    },
  };
}

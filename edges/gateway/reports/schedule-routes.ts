// Scheduled reports: what is due when, how the last runs stand with each of their targets, and running one now.
import { z } from "zod";
import type { Route } from "../../../ports/http.ts";
import { callerOf, defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { fetchedCount, pageOf } from "../schemas/paging.ts";
import {
  reportRunAnswer,
  reportRunJson,
  reportRunsQuery,
  runScheduleBody,
  scheduleAnswer,
  scheduleJson,
  scheduleParams,
} from "../schemas/report-schedules.ts";

type Parts = Pick<GatewayParts, "reportSchedules">;

export function reportSchedulesList(parts: Parts): Route {
  return defineRoute({
    id: "listReportSchedules",
    method: "GET",
    path: "/v1/reports/schedules",
    listeners: ["operator"],
    sentence: "The schedules of reports: when each is due next, and how its last run stands for each fund and target.",
    operation: "ReadReports",
    answers: { 200: z.array(scheduleAnswer) },
    handle: async () => ({ status: 200, body: (await parts.reportSchedules.schedules()).map(scheduleJson) }),
  });
}

export function reportRunsList(parts: Parts): Route {
  return defineRoute({
    id: "listReportRuns",
    method: "GET",
    path: "/v1/reports/schedules/:name/runs",
    listeners: ["operator"],
    sentence: "The runs of a schedule, newest first, those that were missed included.",
    operation: "ReadReports",
    params: scheduleParams,
    query: reportRunsQuery,
    answers: { 200: z.array(reportRunAnswer) },
    handle: async ({ params, query }) => {
      const page = { countMax: fetchedCount(query), after: query.after };
      const fetched = (await parts.reportSchedules.runs(params.name, page)).map(reportRunJson);
      const path = `/v1/reports/schedules/${params.name}/runs`;
      const { rows, more } = pageOf(path, query, fetched, ({ run_id }) => run_id);
      return { status: 200, body: rows, ...more };
    },
  });
}

export function reportScheduleRun(parts: Parts): Route {
  return defineRoute({
    id: "runReportSchedule",
    method: "POST",
    path: "/v1/reports/schedules/:name/runs",
    listeners: ["operator"],
    sentence:
      "Run a schedule now, once for each of its funds; what it makes goes to its targets and says who asked for it.",
    operation: "MakeReport",
    params: scheduleParams,
    body: runScheduleBody,
    answers: { 202: z.array(reportRunAnswer) },
    handle: async (request) => {
      const runs = await parts.reportSchedules.runNow(
        request.params.name,
        callerOf(request).actor,
        request.body.reason,
      );
      return { status: 202, body: runs.map((run) => reportRunJson({ run, deliveries: [] })) };
    },
  });
}

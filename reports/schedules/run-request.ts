// What a run asks for: the report of one fund as of the moment at which it is due, so that one that is made late, or made again, says the same.
import { format, type Instant, minusMilliseconds } from "../../contracts/src/instant.ts";
import type { ReportFormat, ReportParameters } from "../../contracts/src/records/report.ts";
import type { ReportTarget, ScheduledReport } from "../../contracts/src/records/report-schedule.ts";
import { windowOf } from "../windows.ts";

const windowStandard = "30d";
const dayMs = 86_400_000;
/** Before the first value of any fund. */
const beginning = "2000-01-01";

interface RunRequest {
  readonly report: ScheduledReport;
  readonly fundId: string;
  readonly window: string | undefined;
  readonly dueAt: Instant;
  /** The day in the schedule's time zone. */
  day(at: Instant): string;
}

export function parametersOf({ report, fundId, window = windowStandard, dueAt, day }: RunRequest): ReportParameters {
  const fund = { fund_id: fundId };
  // The use of limits is only known for the present.
  if (report === "risk_envelope_report") return fund;
  const asOf = { ...fund, as_of: format(dueAt) };
  // On the first of January the year that ended is wanted.
  if (report === "settlement_report") return { ...asOf, year: day(minusMilliseconds(dueAt, dayMs)).slice(0, 4) };
  if (report === "nav_report" || report === "tca_report") return { ...asOf, window };
  return { ...asOf, ...windowOf(window, beginning, day(dueAt)) };
}

/** A PDF where one is sent or stored; a page to read where only a link goes out. */
export function formatOf(targets: readonly ReportTarget[]): ReportFormat {
  return targets.some((target) => target !== "chat") ? "pdf" : "html";
}

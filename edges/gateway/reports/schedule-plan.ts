// A schedule as the gateway is handed it: what the configuration says, with its moments.
import type { Instant } from "../../../contracts/src/instant.ts";
import type { ReportTarget, ScheduledReport } from "../../../contracts/src/records/report-schedule.ts";

export interface SchedulePlan {
  readonly name: string;
  readonly report: ScheduledReport;
  readonly cron: string;
  readonly timeZone: string;
  readonly window: string | undefined;
  /** All of them when absent. */
  readonly funds: readonly string[] | undefined;
  readonly targets: readonly ReportTarget[];
  /** The first moment after that one. */
  next(after: Instant): Instant | undefined;
  /** The day in its time zone. */
  day(at: Instant): string;
}

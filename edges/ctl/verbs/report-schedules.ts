// `ctl report schedules`: what is made by the clock, when it is due next, and how the last runs stand with each of their targets.
import type { AnswerOf } from "../../client/src/types.ts";
import { followPages, limitOption } from "../follow-pages.ts";
import { type Column, listing, listOptions } from "../text/listing.ts";
import { countOf } from "../text/numbers.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const reportSchedules: Verb = {
  name: "report schedules",
  heading: "Reports",
  sentence: "List the schedules of reports with their last runs, or the runs of one of them.",
  about:
    "A schedule has a line for each fund: its newest run with the state of every target. With a name: all of its runs, newest first, those that were missed included.",
  arguments: [{ name: "name", optional: true, sentence: "The runs of this schedule." }],
  options: [limitOption, ...listOptions],
  examples: [
    { command: "ctl report schedules", sentence: "What is due when, and what became of the last." },
    { command: "ctl report schedules daily-nav --limit 20", sentence: "The newest twenty runs of one." },
  ],
  operation: "ReadReports",
  changesState: false,
  run,
};

type Schedule = AnswerOf<"listReportSchedules">[number];
type Run = Schedule["last_runs"][number];
interface Row {
  readonly schedule: Schedule;
  readonly run: Run | undefined;
}

const targetsOf = (run: Run | undefined): string | undefined =>
  run?.deliveries
    .map(({ target, status, attempts }) => `${target} ${status}${attempts > 1 ? ` (${attempts})` : ""}`)
    .join(", ");

const scheduleColumns: readonly Column<Row>[] = [
  { name: "name", key: true, always: true, of: ({ schedule }) => schedule.name },
  { name: "report", of: ({ schedule }) => schedule.report },
  {
    name: "fund_id",
    head: "fund",
    always: true,
    of: ({ schedule, run: last }) => last?.fund_id ?? schedule.funds?.join(" ") ?? "all",
  },
  { name: "cron", of: ({ schedule }) => schedule.cron },
  { name: "time_zone", minor: 2, of: ({ schedule }) => schedule.time_zone },
  { name: "next_at", head: "next", of: ({ schedule }) => schedule.next_at ?? undefined, time: true },
  { name: "due_at", head: "last due", of: ({ run: last }) => last?.due_at, time: true },
  { name: "status", always: true, of: ({ run: last }) => last?.status },
  { name: "trigger", minor: 1, of: ({ run: last }) => last?.trigger },
  { name: "targets", text: true, of: ({ run: last }) => targetsOf(last) },
  { name: "report_id", of: ({ run: last }) => last?.report_id ?? undefined, onlyCsv: true },
  { name: "detail", of: ({ run: last }) => last?.detail ?? undefined, onlyCsv: true },
];

const runColumns: readonly Column<Run>[] = [
  { name: "due_at", head: "due", key: true, of: (one) => one.due_at, time: true },
  { name: "run_id", head: "id", id: true, of: (one) => one.run_id },
  { name: "fund_id", head: "fund", always: true, of: (one) => one.fund_id },
  { name: "status", always: true, of: (one) => one.status },
  { name: "trigger", of: (one) => one.trigger },
  { name: "targets", text: true, of: targetsOf },
  { name: "report_id", minor: 1, of: (one) => one.report_id ?? undefined },
  { name: "requested_by", minor: 2, of: (one) => one.requested_by },
  { name: "detail", of: (one) => one.detail ?? undefined, onlyCsv: true },
];

async function run(context: Context): Promise<Answer> {
  const client = await context.client();
  const name = context.argument("name");
  if (name === "") {
    const schedules = await client.listReportSchedules();
    const rows = schedules.flatMap((schedule): readonly Row[] =>
      schedule.last_runs.length === 0
        ? [{ schedule, run: undefined }]
        : schedule.last_runs.map((last) => ({ schedule, run: last })),
    );
    const none = "No schedule is configured: reports.schedule.<name> names them.";
    return listing(context, { columns: scheduleColumns, rows, none, data: schedules });
  }
  const limit = countOf("limit", context.option("limit") ?? "", 1);
  const { rows, more } = await followPages(
    limit,
    (one: Run) => one.run_id,
    (page) => client.listReportRuns({ name, ...page }),
  );
  if (more) context.terminal.say(`There are more than ${limit}; --limit raises it.`);
  return listing(context, { columns: runColumns, rows, none: "It has not run yet." });
}

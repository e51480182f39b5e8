// `ctl report run`: a schedule now, for every one of its funds.
import { reasonOf, reasonOption } from "../reason.ts";
import { clean } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const reportRun: Verb = {
  name: "report run",
  heading: "Reports",
  sentence: "Run a schedule of reports now; what it makes goes to its targets and says who asked for it.",
  about: "Its own moments are not changed. `ctl report schedules NAME` shows how it goes on.",
  arguments: [{ name: "name", sentence: "The schedule, as `ctl report schedules` shows it." }],
  options: [reasonOption],
  examples: [{ command: "ctl report run daily-nav", sentence: "One for each of its funds." }],
  operation: "MakeReport",
  changesState: true,
  run,
};

async function run(context: Context): Promise<Answer> {
  const name = context.argument("name");
  const client = await context.client();
  const runs = await client.runReportSchedule({ name, ...reasonOf(context) });
  const lines = runs.map(({ fund_id, run_id }) => `${clean(name)} for ${clean(fund_id)} is due now as run ${run_id}.`);
  return { data: runs, text: lines.join("\n") };
}

// `ctl operations filings reconcile`: a day's records held against the audit log; exit code 10 when something is missing, too much or different.
import type { AnswerOf } from "../../client/src/types.ts";
import { dayOf, dayOptions } from "../filings/day-options.ts";
import { reconciliationExit, reconciliationText } from "../filings/filing-text.ts";
import { needsReason, reasonOption } from "../reason.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const operationsFilingsReconcile: Verb = {
  name: "operations filings reconcile",
  heading: "Filings",
  sentence: "Hold a day's records for a regulator against what the audit log says that they must be.",
  about:
    "Lists what is missing, what no entry explains, and what differs; exit 10 when a list is not empty. What the platform need not have heard yet is pending. With --repair what is missing is recorded, marked late, and the day is looked at again.",
  arguments: [],
  options: [...dayOptions, { name: "repair", sentence: "Record what is missing." }, reasonOption],
  examples: [
    { command: "ctl operations filings reconcile --fund-id alpha --date 2026-11-13", sentence: "Is anything missing?" },
    {
      command: "ctl operations filings reconcile --fund-id alpha --date 2026-11-13 --repair --reason outage",
      sentence: "Record what is missing.",
    },
  ],
  operation: "RepairFilings",
  changesState: true,
  run,
};

async function run(context: Context): Promise<Answer> {
  const found = await ask(context);
  return { data: found, text: reconciliationText(found), exit: reconciliationExit(found) };
}

async function ask(context: Context): Promise<AnswerOf<"reconcileFilings">> {
  const day = dayOf(context);
  const client = await context.client();
  if (!context.switched("repair")) return client.reconcileFilings(day);
  return client.repairFilings({ ...day, reason: needsReason(context) });
}

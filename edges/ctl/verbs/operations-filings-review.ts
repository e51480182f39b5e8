// `ctl operations filings review`: the evidence that somebody looked at a day; exit code 10 when it is not what it must be, and it is written down all the same.
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import { dayOf, dayOptions } from "../filings/day-options.ts";
import { reconciliationExit, reconciliationText, verificationExit, verificationText } from "../filings/filing-text.ts";
import { needsReason, reasonOption } from "../reason.ts";
import { clean } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const operationsFilingsReview: Verb = {
  name: "operations filings review",
  heading: "Filings",
  sentence: "Reconcile and verify a day, and write down in the audit log that you did, with what was found.",
  about: "Exit 10 when something is missing or was changed; the review is written down all the same.",
  arguments: [],
  options: [...dayOptions, reasonOption],
  examples: [
    {
      command: "ctl operations filings review --fund-id alpha --date 2026-11-13 --reason daily",
      sentence: "The daily review.",
    },
  ],
  operation: "ReviewFilings",
  changesState: true,
  run,
};

async function run(context: Context): Promise<Answer> {
  const client = await context.client();
  const found = await client.reviewFilings({ ...dayOf(context), reason: needsReason(context) });
  const { reconciliation, verification, reviewed_by: by, reviewed_at: at } = found;
  const exits = [reconciliationExit(reconciliation), verificationExit(verification)];
  const text = [
    reconciliationText(reconciliation),
    verificationText(verification),
    clean(`Reviewed by ${by} at ${at}.`),
  ].join("\n");
  return { data: found, text, exit: exits.find((exit) => exit !== exitCodes.ok) ?? exitCodes.ok };
}

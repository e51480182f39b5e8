// `ctl operations filings verify`: a day's records held against their entries in the audit log, and its files against the records; exit code 10 on a difference.
import { dayOf, dayOptions } from "../filings/day-options.ts";
import { verificationExit, verificationText } from "../filings/filing-text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const operationsFilingsVerify: Verb = {
  name: "operations filings verify",
  heading: "Filings",
  sentence: "Hold a day's files against their records, and the records against the audit log.",
  about: "Exit 10 when a file or a record is not what it must be. Nothing is changed.",
  arguments: [],
  options: dayOptions,
  examples: [
    { command: "ctl operations filings verify --fund-id alpha --date 2026-11-13", sentence: "Was anything changed?" },
  ],
  operation: "VerifyFilings",
  changesState: false,
  run,
};

async function run(context: Context): Promise<Answer> {
  const found = await (await context.client()).verifyFilings(dayOf(context));
  return { data: found, text: verificationText(found), exit: verificationExit(found) };
}

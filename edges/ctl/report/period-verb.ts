// The verbs of reports that take a first and a last day are alike: a name, a report, and their own words.
import type { Report } from "../../../reports/shape.ts";
import type { Verb, VerbOption } from "../verbs/verb.ts";
import { daysIn, makeReport, reportOptions } from "./report-verb.ts";

export const days: readonly VerbOption[] = [
  { name: "start", value: "DATE", sentence: "The first day; needed unless --facts names it." },
  { name: "end", value: "DATE", sentence: "The last day; needed unless --facts names it." },
];

interface PeriodVerb {
  /** "report position-attribution". */
  readonly name: string;
  readonly report: Report;
  readonly about: string;
  readonly examples: Verb["examples"];
  readonly options?: readonly VerbOption[];
}

export function periodVerb({ name, report, about, examples, options = [] }: PeriodVerb): Verb {
  return {
    name,
    heading: "Reports",
    sentence: report.sentence,
    about,
    arguments: [],
    options: [...days, ...options, ...reportOptions],
    examples,
    operation: "ListFills",
    changesState: false,
    run: async (context) => makeReport(context, report, daysIn(context, ["start", "end"])),
  };
}

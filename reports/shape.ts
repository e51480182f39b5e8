// The form of every report: a name, one sentence, and one pure function from facts and parameters to a document.
import type { ReportDocument } from "./document.ts";
import type { FactPart, ReportFacts } from "./facts.ts";
import type { WrittenNarrative } from "./postmortem/narrative.ts";

export interface ReportInput {
  readonly facts: ReportFacts;
  readonly factsSha256: string;
  /** Both days belong to the period. */
  readonly start: string;
  readonly end: string;
  /** Sections to keep; absent: all. */
  readonly include?: readonly string[];
  /** Of a report about one strategy. */
  readonly strategyId?: string;
  /** Of a post-mortem: what a language model wrote; it is checked, and the template's words stand where it does not hold. */
  readonly written?: WrittenNarrative;
}

export interface Report {
  /** As specified: nav_report. */
  readonly name: string;
  readonly title: string;
  readonly sentence: string;
  /** The sections that `include` may name. */
  readonly sections: readonly string[];
  /** What its facts must have beside what all reports need. */
  readonly needs: readonly FactPart[];
  build(input: ReportInput): ReportDocument;
}

/** Input that no document can be made of, in a sentence that says what to do. */
export class ReportRefused extends Error {
  override readonly name = "ReportRefused";
}

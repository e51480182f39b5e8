// What every report has: its heading, the sections that were asked for, and what a reader must know about the data.
import * as decimal from "../contracts/src/decimal.ts";
import type { BookDay } from "./books/books.ts";
import type { Block, Cell, Metric, ReconciliationLine, ReportDocument, Table } from "./document.ts";
import type { FactPart, ReportFacts } from "./facts.ts";
import { daysWithoutValue } from "./market-days.ts";
import { type ReportInput, ReportRefused } from "./shape.ts";

export type Section = ReportDocument["sections"][number];
type Quality = ReportDocument["data_quality"];

interface Parts {
  readonly report: string;
  readonly title: string;
  readonly metrics: readonly Metric[];
  readonly sections: readonly Section[];
  readonly reconciliation: readonly ReconciliationLine[];
  readonly exclusions: ReportDocument["exclusions"];
  readonly quality: Quality;
  /** Beside those that every report prints. */
  readonly parameters?: ReportDocument["parameters"];
}

export function documentOf({ facts, factsSha256, start, end, include }: ReportInput, parts: Parts): ReportDocument {
  const { fund } = facts;
  return {
    report: parts.report,
    title: `${parts.title}: ${fund.fund_id}`,
    fund_id: fund.fund_id,
    mode: fund.mode,
    currency: fund.currency,
    period: { start, end },
    as_of: facts.as_of,
    parameters: {
      start,
      end,
      benchmark: facts.benchmark?.symbol ?? null,
      rf_annual: facts.rf_annual,
      periods_per_year: fund.periods_per_year,
      calendar: fund.calendar,
      lots: "FIFO",
      ...parts.parameters,
      ...(include !== undefined && { include: [...include] }),
    },
    metrics: [...parts.metrics],
    sections: [...parts.sections],
    reconciliation: [...parts.reconciliation],
    exclusions: parts.exclusions,
    data_quality: parts.quality,
    facts_sha256: factsSha256,
    audit_sequence: facts.audit_sequence,
  };
}

type Column = Table["columns"][number];
/** "day:Day:date": id, title and kind. */
export function columnsOf(...texts: readonly string[]): Column[] {
  return texts.map((text) => {
    const [id = "", title = "", kind = "text"] = text.split(":");
    return { id, title, kind: kind as Column["kind"] };
  });
}

export const tableOf = (id: string, title: string, columns: Column[], rows: Cell[][], main = false): Table => ({
  kind: "table",
  id,
  title,
  main,
  columns,
  rows,
});

export const sectionOf = (id: string, title: string, ...blocks: Block[]): Section => ({ id, title, blocks });

export const textOf = (id: string, text: string): Block => ({ kind: "text", id, text });

export const figuresSection = (metrics: readonly Metric[], ...more: Block[]): Section =>
  sectionOf(
    "summary",
    "Summary",
    { kind: "metrics", id: "figures", title: "Figures", ids: metrics.map(({ id }) => id) },
    ...more,
  );

export const lineChart = (
  id: string,
  title: string,
  unit: "fraction" | "money" | "ratio",
  labels: readonly string[],
  series: readonly { readonly name: string; readonly values: readonly (number | null)[] }[],
): Block => ({
  kind: "chart",
  id,
  title,
  form: "line",
  unit,
  labels: [...labels],
  series: series.map(({ name, values }) => ({ name, values: [...values] })),
});

/** Facts that were read for another report lack what this one needs. */
export function needed<Part extends FactPart>(facts: ReportFacts, part: Part): NonNullable<ReportFacts[Part]> {
  const found = facts[part];
  if (found !== undefined) return found as NonNullable<ReportFacts[Part]>;
  throw new ReportRefused(
    `These facts have no ${part.replaceAll("_", " ")}: they were read for another report. Read them again for this one (--save-facts).`,
  );
}

/** In the report's own order; a name that it does not have is refused with the list. */
export function chosenSections(
  all: readonly Section[],
  include: readonly string[] | undefined,
  known: readonly string[],
): readonly Section[] {
  if (include === undefined) return all;
  const unknown = include.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw new ReportRefused(`There is no section ${unknown.join(", ")}. The sections are ${known.join(", ")}.`);
  }
  return all.filter(({ id }) => include.includes(id));
}

const daysNamedMax = 10;

export function qualityOf(facts: ReportFacts, days: readonly BookDay[]): Quality {
  const quality: Quality = [];
  const seeded = days.filter((day) => day.lines.some(({ source }) => source === "market close")).length;
  if (seeded > 0) {
    quality.push({
      what: "Prices of the market's close",
      detail: `${seeded} of ${days.length} days are from before the log began: their positions are valued at the market's closes.`,
    });
  }
  const missing = daysWithoutValue(facts, new Set(days.map(({ day }) => day)));
  if (missing.length > 0) {
    const named = missing.length > daysNamedMax ? [...missing.slice(0, daysNamedMax), "and more"] : missing;
    quality.push({
      what: "Days without a value",
      detail: `The fund's calendar has ${missing.length === 1 ? "a day" : `${missing.length} days`} of which no value is kept: ${named.join(", ")}. What happened then stands in the next day that has one.`,
    });
  }
  const unpriced = new Set(
    days.flatMap((day) => day.lines.filter((line) => line.price === null).map((line) => line.symbol)),
  );
  if (unpriced.size > 0) {
    quality.push({
      what: "No price",
      detail: `There is no price of ${[...unpriced].join(", ")} on some day: counted as zero.`,
    });
  }
  const foreign = facts.instruments.filter((each) => each.currency !== facts.fund.currency).map((each) => each.symbol);
  const heldForeign = foreign.filter((symbol) => days.some((day) => day.lines.some((line) => line.symbol === symbol)));
  if (heldForeign.length > 0) {
    quality.push({
      what: "Another currency",
      detail: `${heldForeign.join(", ")} is not in ${facts.fund.currency}; rates of past days are not kept, so it is not converted.`,
    });
  }
  const moved = days.filter((day) => day.flows !== decimal.zero).length;
  if (moved > 0)
    quality.push({
      what: "Flows",
      detail: `Money came or went on ${moved === 1 ? "1 day" : `${moved} days`}; it is no return.`,
    });
  return quality;
}

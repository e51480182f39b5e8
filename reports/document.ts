// What a report is, before anybody renders it: figures with their definitions, tables, charts, and the lines that must tie. HTML, JSON and CSV are made
// of it and of nothing else. `npm run gen` writes its JSON schema to contracts/schemas/report-document.schema.json.
//
//  1. A figure that is undefined is null, with a reason; it is never zero, NaN or infinite.
//  2. Money is exact decimal text. A reconciliation difference other than 0 stamps every page of every rendering.
import { z } from "zod";
import { decimalText, instantText } from "../contracts/src/records/fields.ts";
import { narrative } from "./postmortem/narrative.ts";

const date = z.string().regex(/^\d{4}-\d{2}-\d{2}$/, "expected a date such as 2026-11-18");

/** Why a figure has no value, or must be read with care. */
export const metricReasons = {
  NO_DATA: "There is nothing to compute it from.",
  TOO_FEW: "There are fewer observations than its definition needs.",
  CONSTANT: "Nothing moved, so there is nothing to divide by.",
  NO_LOSS: "There was no loss to divide by.",
  NO_WIN: "There was no win.",
  NO_DRAWDOWN: "There was no drawdown to divide by.",
  LESS_THAN_A_YEAR: "The return of less than a year is not annualised.",
  NO_BENCHMARK: "There is no benchmark with prices on the same days.",
  LOW_CONFIDENCE: "Fewer than 60 observations: low confidence.",
  NO_DECAY: "The skill does not fall with the horizon.",
  NO_ONSET: "No onset was found to count from.",
  NOT_IN_LOG: "The audit log has no such entry in the period.",
  NOT_DEFINED: "It has no one value for these facts.",
} as const;
export type MetricReason = keyof typeof metricReasons;

const metric = z.object({
  id: z.string(),
  /** A number, exact decimal text where it is money, or null with a reason. */
  value: z.union([z.number(), decimalText, z.null()]),
  unit: z.enum(["ratio", "fraction", "money", "count", "days", "seconds", "per_year"]),
  definition: z.string(),
  n: z.int().nonnegative(),
  periods_per_year: z.number().nullable(),
  rf_annual: z.number().nullable(),
  /** The last day that is in it. */
  cut_off: date.nullable(),
  reason: z.enum(Object.keys(metricReasons) as [MetricReason, ...MetricReason[]]).nullable(),
  /** 95 %, where the figure has one. */
  interval: z.tuple([z.number(), z.number()]).optional(),
});
export type Metric = z.infer<typeof metric>;

const cell = z.union([z.string(), z.number(), z.null()]);
export type Cell = z.infer<typeof cell>;

const columnKinds = ["text", "date", "money", "price", "quantity", "number", "fraction", "count"] as const;
const table = z.object({
  kind: z.literal("table"),
  id: z.string(),
  title: z.string(),
  /** The one that CSV is made of. */
  main: z.boolean(),
  columns: z.array(z.object({ id: z.string(), title: z.string(), kind: z.enum(columnKinds) })),
  rows: z.array(z.array(cell)),
});
export type Table = z.infer<typeof table>;

const chart = z.object({
  kind: z.literal("chart"),
  id: z.string(),
  title: z.string(),
  form: z.enum(["line", "bar"]),
  unit: z.enum(["fraction", "money", "ratio"]),
  labels: z.array(z.string()),
  series: z.array(z.object({ name: z.string(), values: z.array(z.number().nullable()) })),
});
export type Chart = z.infer<typeof chart>;

const text = z.object({ kind: z.literal("text"), id: z.string(), text: z.string() });
const metricList = z.object({
  kind: z.literal("metrics"),
  id: z.string(),
  title: z.string(),
  ids: z.array(z.string()),
});

const block = z.discriminatedUnion("kind", [table, chart, text, metricList]);
export type Block = z.infer<typeof block>;

const reconciliationLine = z.object({
  name: z.string(),
  left: decimalText,
  right: decimalText,
  difference: decimalText,
});
export type ReconciliationLine = z.infer<typeof reconciliationLine>;

export const reportDocument = z.object({
  report: z.string(),
  title: z.string(),
  fund_id: z.string(),
  mode: z.enum(["PAPER", "LIVE"]),
  currency: z.string(),
  period: z.object({ start: date, end: date }),
  as_of: instantText,
  parameters: z.record(z.string(), z.union([z.string(), z.number(), z.array(z.string()), z.null()])),
  metrics: z.array(metric),
  sections: z.array(z.object({ id: z.string(), title: z.string(), blocks: z.array(block) })),
  reconciliation: z.array(reconciliationLine),
  exclusions: z.array(z.object({ what: z.string(), why: z.string(), count: z.int().nonnegative() })),
  data_quality: z.array(z.object({ what: z.string(), detail: z.string() })),
  facts_sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** The last entry of the audit log at `as_of`; null where there is none. */
  audit_sequence: z.int().nonnegative().nullable(),
  /** Of a post-mortem: its words, who wrote them, and the facts that they may use. */
  narrative: narrative.optional(),
});
export type ReportDocument = z.infer<typeof reportDocument>;

export const isReconciled = ({ reconciliation }: Pick<ReportDocument, "reconciliation">): boolean =>
  reconciliation.every(({ difference }) => Number(difference) === 0);

/** Generated into contracts/schemas. */
export function reportDocumentSchema(): object {
  return { title: "ReportDocument", ...z.toJSONSchema(reportDocument, { io: "output", unrepresentable: "any" }) };
}

// A report that the platform made: what was asked for, what came of it, and the hashes by which anybody can tell whether a file is that report.
import { z } from "zod";
import { countNumber, hashText, idText, instantText, lineText, nameText } from "./fields.ts";

const reportFormats = ["html", "pdf", "json", "csv"] as const;
export const reportFormat = z.enum(reportFormats);
export type ReportFormat = z.infer<typeof reportFormat>;

const reportStatuses = ["QUEUED", "RUNNING", "DONE", "FAILED"] as const;
export const reportStatus = z.enum(reportStatuses);
export type ReportStatus = z.infer<typeof reportStatus>;

const parameterName = z.string().regex(/^[a-z][a-z0-9_]{0,31}$/, "expected a name such as fund_id");
const parameterText = lineText(512);

export const reportParametersMax = 32;

/** As the specification names them: fund_id, start, end, window, include and so on. */
export const reportParameters = z
  .record(parameterName, z.union([parameterText, z.number(), z.array(parameterText).max(64)]))
  .refine((given) => Object.keys(given).length <= reportParametersMax, {
    message: `expected ${reportParametersMax} parameters at most`,
  });
export type ReportParameters = z.infer<typeof reportParameters>;

const reportFile = z.object({ sha256: hashText, bytes: countNumber });
export const reportFiles = z.object({
  html: reportFile.optional(),
  pdf: reportFile.optional(),
  json: reportFile.optional(),
  csv: reportFile.optional(),
});

/** Another report with the same parameters and other facts. */
export const restatement = z.object({
  report_id: idText,
  /** What differs, in words; of very many the first. */
  changes: z.array(lineText(500)).max(50),
});
export type Restatement = z.infer<typeof restatement>;

/** Published with the documents, in one transaction. */
export const reportMade = z.object({
  report_id: idText,
  report: nameText,
  parameters: reportParameters,
  requested_by: nameText,
  reconciled: z.boolean(),
  facts_sha256: hashText,
  documents: reportFiles,
  restates: restatement.optional(),
  at: instantText,
});

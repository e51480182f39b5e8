// `ctl report show`: how one of the platform's reports stands; with --output its document, checked against the hash that the audit log has.
import { createHash } from "node:crypto";
import { resolve } from "node:path";
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import { writeWhole } from "../audit/audit-file.ts";
import { usageRefusal } from "../failure.ts";
import { clean } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

const formats = ["html", "pdf", "json", "csv"] as const;

export const reportShow: Verb = {
  name: "report show",
  heading: "Reports",
  sentence: "Show how a report of the platform stands, or fetch its document.",
  about:
    "A document whose bytes are not those that were recorded is not written, and ends with 10; so does one that does not reconcile, which is written.",
  arguments: [{ name: "report_id", sentence: "The report, as `ctl report list` shows it." }],
  options: [
    {
      name: "output",
      value: "FILE",
      sentence: "Write its document there; the ending decides (.html, .pdf, .json, .csv).",
    },
  ],
  examples: [
    {
      command: "ctl report show 0197f2a0-c4d8-4e6e-8a3b-1f2e3d4c5b6a --output nav.pdf",
      sentence: "The document as a file.",
    },
  ],
  operation: "ReadReports",
  changesState: false,
  run,
};

async function run(context: Context): Promise<Answer> {
  const client = await context.client();
  const reportId = context.argument("report_id");
  const report = await client.getReport({ reportId });
  const exit = report.reconciled === false ? { exit: exitCodes.verificationFailed } : {};
  const output = context.option("output");
  if (output === undefined) return { data: report, text: linesOf(report), ...exit };
  const ending = /\.([a-z]+)$/i.exec(output)?.[1]?.toLowerCase();
  const format = formats.find((each) => each === ending);
  if (format === undefined) throw usageRefusal("--output names a file that ends with .html, .pdf, .json or .csv.");
  const content = await client.reportDocument({ reportId, format });
  const sha256 = createHash("sha256").update(content).digest("hex");
  const recorded = report.documents[format]?.sha256;
  if (sha256 !== recorded) {
    const data = { report_id: reportId, format, sha256, recorded: recorded ?? null };
    const text = `The document is not the one that was made: its hash is ${sha256}, recorded is ${recorded ?? "none"}.`;
    return { data, text, exit: exitCodes.verificationFailed };
  }
  const path = resolve(context.folder, output);
  await writeWhole(path, (write) => write(content));
  const data = { report_id: reportId, path, format, sha256, reconciled: report.reconciled };
  return { data, text: `${clean(report.title ?? report.report)} is in ${clean(output)}.`, ...exit };
}

function linesOf(report: object): string {
  const shown = Object.entries(report).filter(([, value]) => value !== null);
  const width = Math.max(...shown.map(([name]) => name.length));
  return shown
    .map(
      ([name, value]) =>
        `${name.padEnd(width)}  ${clean(typeof value === "object" ? JSON.stringify(value) : String(value))}`,
    )
    .join("\n");
}

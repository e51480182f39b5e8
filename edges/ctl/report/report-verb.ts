// What the report verbs share: facts from the platform or from a file, one document, one rendering, one file. A document that does not reconcile is written
// all the same, stamped, and ends with 10.
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import { isDecimalText } from "../../../contracts/src/decimal.ts";
import { messageOf } from "../../../contracts/src/fault.ts";
import { tryParse } from "../../../contracts/src/instant.ts";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import { isReconciled, type ReportDocument } from "../../../reports/document.ts";
import { factsHash, factsText, type ReportFacts, reportFacts } from "../../../reports/facts.ts";
import type { WrittenNarrative } from "../../../reports/postmortem/narrative.ts";
import { renderCsv } from "../../../reports/render/csv.ts";
import { renderHtml } from "../../../reports/render/html.ts";
import { renderJson } from "../../../reports/render/json.ts";
import { type Report, ReportRefused } from "../../../reports/shape.ts";
import { windowOf } from "../../../reports/windows.ts";
import { writeWhole } from "../audit/audit-file.ts";
import { usageRefusal } from "../failure.ts";
import { clean } from "../text/text.ts";
import type { Answer, Context, VerbOption } from "../verbs/verb.ts";
import { gatherFacts } from "./gather-facts.ts";

const texts = { html: renderHtml, json: renderJson, csv: renderCsv } as const;
const formats = ["html", "pdf", "json", "csv"] as const;
type Format = (typeof formats)[number];

export const reportOptions: readonly VerbOption[] = [
  { name: "fund-id", value: "FUND", sentence: "Which fund; needed unless --facts names it." },
  {
    name: "output",
    value: "FILE",
    sentence: "A file whose ending decides (.html, .pdf, .json, .csv), a bare html, pdf, json or csv, or - for stdout.",
  },
  { name: "as-of", value: "TIME", sentence: "As it was known at this moment, RFC 3339; now otherwise." },
  {
    name: "benchmark",
    value: "SYMBOL",
    sentence: "SPY, or BTC-USD for funds that never close; none for no benchmark.",
  },
  { name: "rf-annual", value: "FRACTION", sentence: "The riskless rate of a year, as a fraction; 0 when absent." },
  {
    name: "save-facts",
    value: "FILE",
    sentence: "Keep what the report is made of, for whoever wants to make it again.",
  },
  { name: "facts", value: "FILE", sentence: "Make it from such a file, without a server." },
];

interface Period {
  readonly start: string;
  readonly end: string;
  readonly include?: readonly string[];
  readonly strategyId?: string;
}

/** What decides which facts are read, where the verb knows it and no option does. */
interface Asked {
  readonly fundId?: string | undefined;
  readonly strategyId?: string | undefined;
  readonly period?: Period | undefined;
  readonly factors?: ReportFacts["factors"];
}

/** What is no window is a mistake of whoever typed it. */
function windowAsked(text: string, first: string, last: string): Period {
  try {
    return windowOf(text, first, last);
  } catch (thrown) {
    if (thrown instanceof ReportRefused) throw usageRefusal(thrown.message);
    throw thrown;
  }
}

/** What a report is about, once its facts are there; what is not typed is as it was when they were saved for this report. */
export type PeriodOf = (facts: ReportFacts, saved: Period | undefined) => Period;

/** Two days as typed; what are none is refused before anything is read. */
export function daysIn(context: Context, names: readonly [string, string]): PeriodOf {
  const [start, end] = names.map((name) => context.option(name));
  const missing = (instead: string) =>
    usageRefusal(`Name the first day with --${names[0]} and the last with --${names[1]}${instead}.`);
  if (start !== undefined && end !== undefined) {
    const typed = windowAsked(`${start}..${end}`, "", "");
    return () => typed;
  }
  if (context.option("facts") === undefined) throw missing(", or a facts file with --facts");
  return (_facts, saved) => {
    if (saved === undefined) throw missing(": the facts were not saved for this report");
    return windowAsked(`${start ?? saved.start}..${end ?? saved.end}`, "", "");
  };
}

/** The window as typed, over the days that the facts have; what is none is refused before anything is read. */
export function windowIn(text: string | undefined, standard: string): PeriodOf {
  windowAsked(text ?? standard, noDay, noDay);
  return ({ navs }, saved) =>
    text === undefined && saved !== undefined
      ? saved
      : windowAsked(text ?? standard, navs[0]?.day ?? noDay, navs.at(-1)?.day ?? noDay);
}

const noDay = "2000-01-01";

export async function makeReport(
  context: Context,
  report: Report,
  periodOf: PeriodOf,
  asked: Asked = {},
): Promise<Answer> {
  const output = outputOf(context);
  const saved = context.option("save-facts");
  if (saved !== undefined && output.path !== "" && output.path !== undefined) {
    const same = resolve(context.folder, saved) === resolve(context.folder, output.path);
    if (same) throw usageRefusal(`--output and --save-facts both name ${clean(saved)}: name two files.`);
  }
  const { facts, period } = await factsFor(context, report, periodOf, asked);
  const document = await narrated(context, report, facts, period);
  const target = { ...output, path: output.path === "" ? fileNameOf(document, output.format) : output.path };
  const content = target.format === "pdf" ? await pdfOf(context, document) : texts[target.format](document);
  if (saved !== undefined) await writeContent(context, saved, factsText(facts));
  const reconciled = isReconciled(document);
  const exit = reconciled ? {} : { exit: exitCodes.verificationFailed };
  if (target.path === undefined) return { data: document, text: String(content), ...exit };
  await writeContent(context, target.path, content);
  const data = {
    report_id: documentId(document),
    report: document.report,
    path: resolve(context.folder, target.path),
    format: target.format,
    sha256: createHash("sha256").update(content).digest("hex"),
    facts_sha256: document.facts_sha256,
    reconciled,
  };
  const lines = [
    `${document.title}, ${document.period.start} to ${document.period.end} (${document.mode}), is in ${clean(target.path)}.`,
    ...document.reconciliation
      .filter(({ difference }) => Number(difference) !== 0)
      .map(({ name, difference }) => `DOES NOT RECONCILE: ${name} differs by ${difference}.`),
  ];
  return { data, text: lines.join("\n"), ...exit };
}

/** The platform keeps none of these, so the id is made of what the document says: the same facts and parameters have the same one. */
function documentId(document: ReportDocument): string {
  const hex = createHash("sha256").update(renderJson(document)).digest("hex");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, "$1-$2-$3-$4-$5");
}

/** Built once for its numbered facts, and again with the words that a model made of them, where one is asked. */
async function narrated(context: Context, report: Report, facts: ReportFacts, period: Period): Promise<ReportDocument> {
  const document = builtFrom(report, facts, period);
  if (document.narrative === undefined || context.writeNarrative === undefined) return document;
  context.terminal.say("Asking for the words");
  const written = await context.writeNarrative(document.narrative.facts);
  return written === undefined ? document : builtFrom(report, facts, period, written);
}

function builtFrom(report: Report, facts: ReportFacts, period: Period, written?: WrittenNarrative): ReportDocument {
  try {
    const factsSha256 = factsHash(facts, (text) => createHash("sha256").update(text).digest());
    return report.build({ facts, factsSha256, ...period, ...(written !== undefined && { written }) });
  } catch (thrown) {
    if (thrown instanceof ReportRefused) throw usageRefusal(thrown.message);
    throw thrown;
  }
}

/** A file stays as it is; what is read says what it was read for. */
async function factsFor(context: Context, report: Report, periodOf: PeriodOf, asked: Asked) {
  const facts = await factsOf(context, report, asked);
  const period = periodOf(facts, savedFor(report, facts));
  if (context.option("facts") !== undefined) return { facts, period };
  const { start, end, include, strategyId } = period;
  const made_for = {
    report: report.name,
    start,
    end,
    ...(include !== undefined && { include: [...include] }),
    ...(strategyId !== undefined && { strategy_id: strategyId }),
  };
  return { facts: { ...facts, made_for }, period };
}

function savedFor({ name }: Report, { made_for: saved }: ReportFacts): Period | undefined {
  if (saved?.report !== name) return undefined;
  const { strategy_id: strategyId, include, start, end } = saved;
  return { start, end, ...(include !== undefined && { include }), ...(strategyId !== undefined && { strategyId }) };
}

async function factsOf(context: Context, report: Report, asked: Asked): Promise<ReportFacts> {
  const [file, fundId] = [context.option("facts"), asked.fundId ?? context.option("fund-id")];
  if (file !== undefined) {
    // They stand in the facts: taken and not obeyed, they would be printed as something else than was asked for.
    for (const name of ["as-of", "benchmark", "rf-annual"]) {
      if (context.option(name) === undefined) continue;
      throw usageRefusal(`--${name} says what facts are read, and --facts has them already: leave one of the two out.`);
    }
    return readFacts(resolve(context.folder, file), fundId);
  }
  if (fundId === undefined) throw usageRefusal("Name the fund with --fund-id, or a facts file with --facts.");
  const asOfText = context.option("as-of");
  const asOf = asOfText === undefined ? undefined : tryParse(asOfText);
  if (asOfText !== undefined && asOf === undefined)
    throw usageRefusal(`--as-of is ${asOfText}, which is no time such as 2026-11-18T12:00:00Z.`);
  if (asOf !== undefined && asOf > context.clock.now())
    throw usageRefusal(`--as-of is ${asOfText}, which is yet to come: nothing is known of it.`);
  const rfAnnual = context.option("rf-annual") ?? "0";
  if (!isDecimalText(rfAnnual) || Math.abs(Number(rfAnnual)) >= 1)
    throw usageRefusal(`--rf-annual is ${rfAnnual}, which is no fraction such as 0.02 (between -1 and 1).`);
  return gatherFacts(await context.client(), {
    fundId,
    asOf,
    now: context.clock.now,
    benchmark: context.option("benchmark"),
    rfAnnual,
    parts: new Set(report.needs),
    strategyId: asked.strategyId,
    period: asked.period,
    factors: asked.factors,
    say: context.terminal.say,
    sleep: (ms) => context.timers.sleep(ms, context.signal),
  });
}

async function readFacts(path: string, fundId: string | undefined): Promise<ReportFacts> {
  const text = await readFile(path, "utf8").catch((thrown: unknown) => {
    throw usageRefusal(`${path} cannot be read: ${messageOf(thrown)}.`);
  });
  const parsed = reportFacts.safeParse(jsonOf(text, path));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw usageRefusal(`${path} is no facts file: ${issue?.path.join(".") ?? ""} ${issue?.message ?? ""}.`);
  }
  if (fundId !== undefined && parsed.data.fund.fund_id !== fundId) {
    throw usageRefusal(`${path} has the facts of ${parsed.data.fund.fund_id}, not of ${fundId}.`);
  }
  return parsed.data;
}

function jsonOf(text: string, path: string): unknown {
  try {
    return parseJson(text);
  } catch (thrown) {
    throw usageRefusal(`${path} is no facts file: ${messageOf(thrown)}.`);
  }
}

/** No path is stdout, an empty one is named after the document. */
function outputOf(context: Context): { readonly format: Format; readonly path: string | undefined } {
  const output = context.option("output") ?? "html";
  if (output === "-") return { format: context.json ? "json" : "html", path: undefined };
  const isFormat = (text: string): text is Format => formats.some((each) => each === text);
  if (isFormat(output)) return { format: output, path: "" };
  const ending = /\.([a-z]+)$/i.exec(output)?.[1]?.toLowerCase() ?? "";
  if (isFormat(ending)) return { format: ending, path: output };
  throw usageRefusal(
    `--output is ${clean(output)}: name a file that ends with .html, .pdf, .json or .csv, one of html, pdf, json and csv, or -.`,
  );
}

function fileNameOf({ report, fund_id, period }: ReportDocument, format: Format): string {
  return `${report.replaceAll("_", "-")}-${fund_id}-${period.start}-${period.end}.${format}`;
}

async function pdfOf(context: Context, document: ReportDocument): Promise<Uint8Array> {
  return context.renderPdf(document).catch((thrown: unknown) => {
    if ((thrown as { code?: unknown } | null)?.code !== "MODULE_NOT_FOUND") throw thrown;
    throw usageRefusal(
      "This ctl was installed without the compiler that makes PDF.",
      "Make it html and print it, or use the ctl of the platform's own checkout.",
    );
  });
}

const writeContent = (context: Context, path: string, content: string | Uint8Array): Promise<void> =>
  writeWhole(resolve(context.folder, path), (write) => write(content));

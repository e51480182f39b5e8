// The process that makes one report: `ctl report` against the platform's own API, so that a report is the same whoever has it made. Its token is one of
// our own processes', which opens what reports are made of and nothing else. What it makes are files in a folder that whoever started it removes.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { systemClock } from "../adapters/system/clock.ts";
import { handedIn } from "../adapters/system/limited-process.ts";
import { systemRandom } from "../adapters/system/random.ts";
import { systemTimers } from "../adapters/system/timers.ts";
import { exitCodes } from "../contracts/src/codes/shape.ts";
import { messageOf } from "../contracts/src/fault.ts";
import { parseJson } from "../contracts/src/parse-json.ts";
import type { ReportFormat, ReportParameters } from "../contracts/src/records/report.ts";
import { runCtl } from "../edges/ctl/main.ts";
import type { Streams } from "../edges/ctl/terminal.ts";
import { verbs } from "../edges/ctl/verbs/index.ts";
import { reportDocument } from "../reports/document.ts";
import type { NumberedFact, WrittenNarrative } from "../reports/postmortem/narrative.ts";
import { renderCsv } from "../reports/render/csv.ts";
import { renderHtml } from "../reports/render/html.ts";
import { pdfOf } from "./report-pdf.ts";

export interface ReportInput {
  readonly url: string;
  readonly token: string;
  readonly folder: string;
  readonly report: string;
  readonly parameters: ReportParameters;
  readonly format: ReportFormat;
  /** Whether somebody writes the words of a post-mortem. */
  readonly hasModel: boolean;
}

/** The key of a language model is not here: whoever started it asks. */
export type FromReport =
  | { readonly progress: string }
  | { readonly failed: string }
  | { readonly narrate: readonly NumberedFact[] };
export interface ToReport {
  readonly written: WrittenNarrative | null;
}

const side = handedIn();
const input = (await side.input) as ReportInput;
const failed = await make(input).catch((thrown: unknown) => messageOf(thrown));
if (failed !== undefined) await side.say({ failed } satisfies FromReport);
process.exit(0);

/** Why it failed; undefined when it did not. */
async function make({
  url,
  token,
  folder,
  report,
  parameters,
  format,
  hasModel,
}: ReportInput): Promise<string | undefined> {
  const known = parametersOf(report);
  const foreign = Object.keys(parameters).find((name) => !known.includes(name));
  if (foreign !== undefined) return `${report} has no parameter ${foreign}. Its parameters are ${known.join(", ")}.`;
  const talk: string[] = [];
  const streams = streamsOf((line) => {
    talk.push(line);
    if (!line.startsWith("{")) void side.say({ progress: line } satisfies FromReport);
  });
  const exit = await runCtl(["report", verbOf(report), ...optionsOf(parameters), "--output=report.json", "--json"], {
    environment: { PORTCULLIS_URL: url, PORTCULLIS_TOKEN: token, XDG_CONFIG_HOME: folder, NO_COLOR: "1" },
    clock: systemClock(),
    timers: systemTimers(),
    random: systemRandom(),
    streams,
    signal: new AbortController().signal,
    folder,
    repository: undefined,
    version: () => "",
    renderPdf: pdfOf,
    ...(hasModel && { writeNarrative: askForWords }),
    runWitness: () => Promise.reject(new Error("a report has no witness")),
  });
  if (exit !== exitCodes.ok && exit !== exitCodes.verificationFailed) return detailOf(talk);
  await side.say({ progress: `Rendering ${format}` } satisfies FromReport);
  await render(folder, format);
  return undefined;
}

async function askForWords(facts: readonly NumberedFact[]): Promise<WrittenNarrative | undefined> {
  const answer = (await side.ask({ narrate: facts } satisfies FromReport)) as ToReport;
  return answer.written ?? undefined;
}

async function render(folder: string, format: ReportFormat): Promise<void> {
  if (format === "json") return;
  const document = reportDocument.parse(parseJson(await readFile(join(folder, "report.json"), "utf8")));
  const rendered =
    format === "pdf" ? await pdfOf(document) : format === "csv" ? renderCsv(document) : renderHtml(document);
  await writeFile(join(folder, `report.${format}`), rendered);
}

/** trade_report is `ctl report trade`. */
function verbOf(report: string): string {
  return report === "postmortem_auto_rca" ? "postmortem" : report.replace(/_report$/, "").replaceAll("_", "-");
}

/** Only the verb's own, so that nobody sends a token elsewhere; and none that names a file, which would be one of this machine. */
function parametersOf(report: string): readonly string[] {
  const found = verbs.find(({ name }) => name === `report ${verbOf(report)}`);
  const options = (found?.options ?? []).filter(({ value }) => value !== "FILE");
  return options.map(({ name }) => name.replaceAll("-", "_"));
}

function optionsOf(parameters: ReportParameters): readonly string[] {
  return Object.entries(parameters).flatMap(([name, value]) =>
    [value].flat().map((each) => `--${name.replaceAll("_", "-")}=${each}`),
  );
}

/** What ctl says last under --json is why it failed. */
function detailOf(talk: readonly string[]): string {
  const last = talk.findLast((line) => line.startsWith("{"));
  const problem = last === undefined ? undefined : (parseJson(last) as { detail?: unknown; hint?: unknown });
  const sentences = [problem?.detail, problem?.hint].filter((each) => typeof each === "string");
  return sentences.length === 0 ? "It failed without a reason." : sentences.join(" ");
}

function streamsOf(said: (line: string) => void): Streams {
  const stderr = new PassThrough();
  stderr.setEncoding("utf8");
  let rest = "";
  stderr.on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) said(line);
  });
  // Nobody reads its answer: the file is the answer.
  const stdout = new PassThrough().resume();
  return { stdin: new PassThrough().end(), stdout, stderr } as unknown as Streams;
}

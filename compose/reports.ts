// What the gateway hands its reports: a process for each, with 120 seconds and a gigabyte at most, and the alarm for books that do not tie.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Configuration } from "../adapters/configuration/schema.ts";
import { openLanguageModel } from "../adapters/language-model/open-language-model.ts";
import { createAlarms } from "../adapters/postgres/alarms.ts";
import { runLimited } from "../adapters/system/limited-process.ts";
import type { ReportFormat } from "../contracts/src/records/report.ts";
import { subjects } from "../contracts/src/subjects.ts";
import { type Narrator, narratorBy } from "../edges/gateway/reports/narrator.ts";
import type { MakeReport, ReportOutcome, ReportTask } from "../edges/gateway/reports/report-maker.ts";
import { type ReportQueue, startReportQueue } from "../edges/gateway/reports/report-queue.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { Random } from "../ports/random.ts";
import type { Store } from "../ports/store.ts";
import type { Timers } from "../ports/timers.ts";
import type { FromReport, ReportInput, ToReport } from "./report-process.ts";
import type { Stops } from "./shared.ts";
import { httpUrls } from "./tls.ts";

const limits = { timeMsMax: 120_000, memoryBytesMax: 1_000_000_000 };
const entry = fileURLToPath(new URL("report-process.js", import.meta.url));

export interface ReportsOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly log: Log;
  readonly store: Store;
  readonly configuration: Configuration;
  /** Known when the listeners stand. */
  readonly addresses: Readonly<Record<string, string>>;
  /** With which a report reads: of our own processes, asked for when one begins. */
  token(): string;
}

export async function startReports(options: ReportsOptions, stops: Stops): Promise<ReportQueue> {
  const alarms = createAlarms({ ...options, subject: subjects.alarmRaised, source: "gateway" });
  const queue = await startReportQueue({
    ...options,
    make: narrated(makeBy(options), await narratorOf(options)),
    unreconciled: (about, sentence) =>
      sentence === undefined
        ? alarms.clear("REPORT_NOT_RECONCILED", about)
        : alarms.raise("REPORT_NOT_RECONCILED", about, sentence),
  });
  stops.push(() => queue.stop());
  return queue;
}

/** Asked here and not in the report's process, which so never has the model's key. */
async function narratorOf({ configuration, timers }: ReportsOptions): Promise<Narrator | undefined> {
  const model = await openLanguageModel(configuration.language_model, timers);
  return model === undefined ? undefined : narratorBy(model);
}

interface Narrated {
  readonly narrator?: Narrator | undefined;
}

const narrated =
  (make: MakeReport, narrator: Narrator | undefined): MakeReport =>
  (task, say, signal) => {
    const withNarrator: typeof task & Narrated = { ...task, narrator };
    return make(withNarrator, say, signal);
  };

const makeBy =
  ({ configuration, addresses, token }: ReportsOptions): MakeReport =>
  async (task, say, signal) => {
    const folder = await mkdtemp(join(tmpdir(), "portcullis-report-"));
    const url = httpUrls(configuration, addresses)["gateway"] ?? "";
    // Where the listener speaks TLS, its own certificate is good enough for what never leaves the machine.
    const certFile = configuration.tls.cert_file;
    try {
      return await made({ ...task, token: token(), url, folder, certFile }, say, signal);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };

async function made(
  {
    url,
    folder,
    certFile,
    ...task
  }: ReportTask & {
    readonly token: string;
    readonly url: string;
    readonly folder: string;
    readonly certFile: string | undefined;
  },
  say: (progress: string) => void,
  signal: AbortSignal,
): Promise<ReportOutcome> {
  let failure: string | undefined;
  const { token, report, parameters, format } = task;
  const { narrator } = task as Narrated;
  const end = await runLimited({
    entry,
    input: { url, token, folder, report, parameters, format, hasModel: narrator !== undefined } satisfies ReportInput,
    environment: certFile === undefined ? {} : { NODE_EXTRA_CA_CERTS: certFile },
    limits,
    signal,
    heard: (message, answer) => {
      const heard = message as FromReport;
      if ("progress" in heard) say(heard.progress);
      else if ("narrate" in heard) void wordsOf(narrator, heard.narrate, signal).then(answer);
      else failure = heard.failed;
    },
  });
  if (end.kind === "died") return { kind: "failed", detail: `The process that made it died: ${end.why}.` };
  if (failure !== undefined) return { kind: "failed", detail: failure };
  const formats: readonly ReportFormat[] = format === "json" ? ["json"] : ["json", format];
  const files = await Promise.all(
    formats.map(async (each) => [each, new Uint8Array(await readFile(join(folder, `report.${each}`)))] as const),
  );
  return { kind: "made", files: new Map(files) };
}

const wordsOf = async (narrator: Narrator | undefined, facts: unknown, signal: AbortSignal): Promise<ToReport> => ({
  written: narrator === undefined ? null : await narrator(facts, signal),
});

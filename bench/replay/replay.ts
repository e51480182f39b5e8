// How long does somebody who looks at the past wait, when the platform has a long one? Moments of a week in which a fund has a million entries of the journal and
// of the audit log, and pages of its timeline, over HTTP as the page asks, one after the other. Meanwhile every stretch of processor time that a loop gave to one
// piece of work is written down, because the process that answers latches halts as well; and halts are timed beside all of it, as a ratio to calm ones of the same run.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { addressOfSocket, openPool } from "../../adapters/postgres/connection.ts";
import { ownerRoleName } from "../../adapters/postgres/embedded/cluster.ts";
import { fetchOnNewConnection } from "../../testkit/http/fetch-on-new-connection.ts";
import { bearerOf, operatorUrl } from "../../testkit/login.ts";
import { type RunningPlatform, startPlatform, temporaryFolder } from "../../testkit/platform.ts";
import { quietLog } from "../../testkit/quiet-log.ts";
import { type HaltsBeside, haltsBeside } from "../../testkit/replay/halts-beside.ts";
import { momentIn, type RecordedPast, recordPast } from "../../testkit/replay/recorded-past.ts";
import { openRiskClient } from "../../testkit/risk/client.ts";
import { type Prng, prng } from "../../testkit/virtual/prng.ts";
import type { Bench, BenchResult } from "../bench.ts";
import { repository } from "../ctl-start.ts";
import { longestIn } from "../widest/longest-in.ts";

/** The promise. */
const aimMs = 1_000;
const taskMsMax = 20;
const pageRows = 500;
const dayMs = 86_400_000;
/** Each is of this share of the past. */
const verifications = 10;
const piecesOfPast = 200;

export const replay: Bench = {
  name: "replay",
  sentence: "How long a moment of the past and a page of the timeline take with a million entries of journal and log.",
  run: (progress) => runReplay({ entries: 1_000_000, days: 7, questions: 200, seed: 47 }, progress),
};

export interface Extent {
  readonly entries: number;
  readonly days: number;
  /** Of each kind. */
  readonly questions: number;
  readonly seed: number;
}

export async function runReplay(extent: Extent, progress: (line: string) => void): Promise<BenchResult> {
  const folder = temporaryFolder("bench-replay");
  const watched = join(folder, "loops");
  mkdirSync(watched);
  const watch = pathToFileURL(join(repository(), "bench", "widest", "loop-watch.js")).href;
  const environment = {
    NODE_OPTIONS: `--import ${watch}`,
    LOOP_WATCH_FOLDER: watched,
    LOOP_WATCH_SERVICE: "operations",
  };
  progress("starting a platform whose loops are watched");
  const platform = startPlatform({ root: repository(), environment });
  try {
    await platform.ready();
    const { host, port } = platform.runFile().database;
    const target = addressOfSocket(host, port, ownerRoleName).owner;
    const owner = openPool(target, { log: quietLog, applicationName: "bench replay", sizeMax: 2 });
    const risk = await openRiskClient(platform);
    try {
      const past = await recordPast(owner, risk, { ...extent, of: "orders" }, progress);
      const rolls = prng(extent.seed);
      const measure = async (
        what: string,
        count: number,
        question: (ask: Ask) => Promise<unknown>,
      ): Promise<Measured> => {
        progress(`asking for ${count} ${what}`);
        const ask = await askingOf(platform);
        // The first of a kind finds nothing in memory.
        await question(ask);
        return measured(watched, count, () => question(ask));
      };
      const day = dayOf(past);
      const pages = pagesOf(past, rolls);
      const seen = {
        moment: await measure("moments", extent.questions, (ask) => moment(ask, past, rolls)),
        timeline: await measure("pages", extent.questions, (ask) => pages(ask)),
        verify: await measure("verifications", verifications, (ask) => day.verifyNext(ask)),
        verdict: day.verdict,
      };
      const loops = longestIn(watched);
      const longestTaskMs = (): number => loops.since()["operations"] ?? 0;
      const halts = await haltsBeside({ platform, past, longestTaskMs, isWhole: false, progress });
      return resultOf(extent, past, { ...seen, halts });
    } finally {
      risk.close();
      await owner.end();
    }
  } finally {
    await platform.end();
  }
}

type Ask = <Answer>(path: string, body?: object) => Promise<Answer>;

/** As the viewer, whose token is good for some minutes. */
async function askingOf(platform: RunningPlatform): Promise<Ask> {
  const headers = { ...(await bearerOf(platform, "viewer")), "content-type": "application/json" };
  return async <Answer>(path: string, body?: object) => {
    const answer = await fetchOnNewConnection(`${operatorUrl(platform)}${path}`, {
      headers,
      ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
    });
    const document: unknown = await answer.json();
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${JSON.stringify(document)}`);
    return document as Answer;
  };
}

interface Measured {
  readonly tookMs: readonly number[];
  /** The longest task of operations during each. */
  readonly taskMs: readonly number[];
}

async function measured(watched: string, count: number, question: () => Promise<unknown>): Promise<Measured> {
  const [tookMs, taskMs]: [number[], number[]] = [[], []];
  for (let n = 0; n < count; n += 1) {
    const longest = longestIn(watched);
    const began = performance.now();
    await question();
    tookMs.push(performance.now() - began);
    taskMs.push(longest.since()["operations"] ?? 0);
  }
  return { tookMs, taskMs };
}

interface Moment {
  readonly reason?: string;
  readonly limit_use: readonly { readonly used?: string }[];
}

async function moment(ask: Ask, past: RecordedPast, rolls: Prng): Promise<void> {
  const at = momentIn(past, rolls);
  const { reason, limit_use } = await ask<Moment>(`/v1/replay/moment?fund_id=${past.fundId}&at=${at}`);
  if (reason !== undefined) throw new Error(`at ${at}: ${reason}`);
  if (!limit_use.some(({ used }) => used !== undefined)) throw new Error(`at ${at} no limit was counted`);
}

/** Of a day from anywhere, and every second one is the page behind the one before. */
function pagesOf(past: RecordedPast, rolls: Prng): (ask: Ask) => Promise<void> {
  let [period, after] = ["", ""];
  return async (ask) => {
    if (after === "") {
      const from = momentIn(past, rolls);
      period = `&from=${from}&to=${laterBy(dayMs, from, past)}`;
    }
    const path = `/v1/replay/timeline?fund_id=${past.fundId}&count_max=${pageRows}${period}${after}`;
    const rows = await ask<readonly { readonly event_id: string }[]>(path);
    const isFull = after === "" && rows.length === pageRows;
    after = isFull ? `&after=${encodeURIComponent(rows.at(-1)?.event_id ?? "")}` : "";
  };
}

const laterBy = (ms: number, from: string, { to }: RecordedPast): string =>
  new Date(Math.min(Date.parse(from) + ms, Date.parse(to))).toISOString();

/** Pieces of the past from its beginning, one behind the other. */
function dayOf(past: RecordedPast) {
  const verdict = { decisions: 0, different: 0 };
  const pieceMs = (Date.parse(past.to) - Date.parse(past.from)) / piecesOfPast;
  let from = past.from;
  return {
    verdict,
    async verifyNext(ask: Ask): Promise<void> {
      const to = laterBy(pieceMs, from, past);
      const found = await ask<typeof verdict>("/v1/replay/verify", { fund_id: past.fundId, from, to });
      verdict.decisions += found.decisions;
      verdict.different += found.different;
      from = to;
    },
  };
}

interface Seen {
  readonly moment: Measured;
  readonly timeline: Measured;
  readonly verify: Measured;
  readonly verdict: { readonly decisions: number; readonly different: number };
  readonly halts: HaltsBeside;
}

/** Halts, in milliseconds; what they waited for beside the past, by what they take without it. */
function haltFigures({ calmMs, busyMs, ratio, verdict, answered, taskMs }: HaltsBeside) {
  return {
    calm_ms: calmMs,
    beside_ms: busyMs,
    ratio: rounded(ratio),
    judged: verdict.decisions,
    answered,
    task_p50_ms: quantile(taskMs, 0.5),
    task_p90_ms: quantile(taskMs, 0.9),
    task_longest_ms: quantile(taskMs, 1),
  };
}

function resultOf(extent: Extent, past: RecordedPast, seen: Seen): BenchResult {
  const { verdict } = seen;
  const of = ({ tookMs, taskMs }: Measured) => ({
    p50_ms: quantile(tookMs, 0.5),
    p99_ms: quantile(tookMs, 0.99),
    ratio: rounded(quantile(tookMs, 0.99) / aimMs),
    task_p90_ms: quantile(taskMs, 0.9),
    task_longest_ms: quantile(taskMs, 1),
  });
  const { ratio: _, ...verify } = of(seen.verify);
  const seconds = seen.verify.tookMs.reduce((sum, ms) => sum + ms, 0) / 1_000;
  const figures = {
    journal_entries: past.journalEntries,
    log_entries: past.logEntries,
    days: extent.days,
    questions: extent.questions,
    aim_ms: aimMs,
    moment: of(seen.moment),
    timeline: { rows: pageRows, ...of(seen.timeline) },
    verify: { ...verdict, per_s: rounded(verdict.decisions / seconds), ...verify },
    halts: haltFigures(seen.halts),
    node_version: process.version,
  };
  const { moment, timeline } = figures;
  const shortfalls = [
    ...Object.entries({ moment, timeline }).flatMap(([what, { p99_ms: ms }]) =>
      ms <= aimMs ? [] : [`${what}: ${ms} ms at the 99th percentile; ${aimMs} is the aim`],
    ),
    ...Object.entries({ moment, timeline, verify }).flatMap(([what, { task_p90_ms: ms }]) =>
      ms <= taskMsMax ? [] : [`${what}: operations gave ${ms} ms to one task; ${taskMsMax} is the most`],
    ),
    ...(verdict.different === 0 ? [] : [`${verdict.different} of ${verdict.decisions} decisions differ`]),
  ];
  const table = Object.entries(figures).map(([name, value]) => `${name.padEnd(24)}${JSON.stringify(value)}`);
  return { figures, table: table.join("\n"), shortfalls };
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return rounded(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN);
}

const rounded = (value: number): number => Math.round(value * 1_000) / 1_000;

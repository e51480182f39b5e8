// What does each attack of strangers and readers cost those who are honest? One platform; a quiet round first, then each attack alone, then all of them at once.
// Each time an operator halts and somebody logs in, and beside the time that it took stands how long the processes on the way were ready to run and the machine
// ran others: what is left was spent behind other work in our own processes, which no faster machine mends.
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type AttackName, attackNames, startSiege } from "../../testkit/hostile/start-siege.ts";
import { fetchOnNewConnection } from "../../testkit/http/fetch-on-new-connection.ts";
import { bearerOf, logInAs, operatorUrl } from "../../testkit/login.ts";
import { type Platform, pause, startPlatform, temporaryFolder } from "../../testkit/platform.ts";
import type { Bench, BenchResult } from "../bench.ts";
import { repository } from "../ctl-start.ts";
import { longestIn } from "../widest/longest-in.ts";

/** As the siege promises. */
const haltMsMax = 1_000;
const logInMsMax = 3_000;
const calmFactor = 4;
const samplesPerRound = 6;
const betweenMs = 700;
/** An attack begins with all its connections at once; what it does after that is what counts. */
const beginsMs = 3_000;
const answerMsMax = 60_000;
const watchedProcesses = ["gateway", "operations", "riskengine"] as const;

export const siege: Bench = {
  name: "siege",
  sentence: "A halt and a log-in beside each attack of strangers and readers, alone and all at once.",
  run: (progress) => runSiege(progress),
};

interface Sample {
  readonly ms: number;
  /** Ready to run while the machine ran somebody else, by process. */
  readonly waitedMs: Readonly<Record<string, number>>;
}

interface Round {
  readonly attack: string;
  readonly halts: readonly Sample[];
  readonly logIns: readonly Sample[];
  /** Longest stretch of processor time that one piece of work took, by process. */
  readonly longest_task_ms: Readonly<Record<string, number>>;
  /** Of one processor, by process. */
  readonly processorShare: Readonly<Record<string, number>>;
}

async function runSiege(progress: (line: string) => void): Promise<BenchResult> {
  const folder = temporaryFolder("siege-bench");
  const watched = join(folder, "loops");
  mkdirSync(watched);
  const watch = pathToFileURL(join(repository(), "bench", "widest", "loop-watch.js")).href;
  const environment = { NODE_OPTIONS: `--import ${watch}`, LOOP_WATCH_FOLDER: watched };
  progress("starting a platform whose loops are watched");
  const platform = startPlatform({ root: repository(), environment });
  try {
    await platform.ready();
    const rounds = [await round(platform, watched, "quiet")];
    progress(line(rounds[0] as Round));
    const asked = (process.env["SIEGE_ATTACKS"] ?? "").split(",").filter((name) => name !== "");
    const wanted = attackNames.filter((name) => asked.length === 0 || asked.includes(name));
    for (const kinds of [...wanted.map((name) => [name]), ...(asked.length === 0 ? [attackNames] : [])]) {
      rounds.push(await besieged(platform, watched, kinds));
      progress(line(rounds.at(-1) as Round));
      // tidy: sleeps because what an attack left behind is none of the next one's
      await pause(beginsMs);
    }
    rounds.push(await round(platform, watched, "quiet again"));
    progress(line(rounds.at(-1) as Round));
    return resultOf(rounds);
  } finally {
    await platform.end();
  }
}

async function besieged(platform: Platform, watched: string, kinds: readonly AttackName[]): Promise<Round> {
  const { addresses } = platform.runFile();
  const viewer = (await logInAs(platform, "viewer")).access_token;
  const addressOf = (name: string): string => addresses[name] ?? "";
  const running = startSiege({
    riskengine: addressOf("riskengine"),
    operations: addressOf("operations"),
    gateway: addressOf("gateway"),
    viewer,
    kinds,
  });
  try {
    // tidy: sleeps because an attack is to be under way
    await pause(beginsMs);
    return await round(platform, watched, kinds.length === 1 ? String(kinds[0]) : "all at once");
  } finally {
    await running.end();
  }
}

let halted = 0;

async function round(platform: Platform, watched: string, attack: string): Promise<Round> {
  const longest = longestIn(watched);
  const pids = platform.runFile().processes;
  const [began, before] = [Date.now(), timesOf(pids)];
  const [halts, logIns]: [Sample[], Sample[]] = [[], []];
  for (let count = 0; count < samplesPerRound; count += 1) {
    let headers: Readonly<Record<string, string>> = {};
    logIns.push(
      await sample(pids, async () => {
        headers = await bearerOf(platform, "duty");
      }),
    );
    halts.push(await sample(pids, () => halt(platform, headers)));
    // tidy: sleeps because each is to find the machine as the attack left it
    await pause(betweenMs);
  }
  const [seconds, after] = [(Date.now() - began) / 1_000, timesOf(pids)];
  const processorShare = Object.fromEntries(
    watchedProcesses.map((name) => [name, ((after[name]?.ranMs ?? 0) - (before[name]?.ranMs ?? 0)) / seconds / 1_000]),
  );
  return { attack, halts, logIns, longest_task_ms: longest.since(), processorShare };
}

async function halt(platform: Platform, headers: Readonly<Record<string, string>>): Promise<void> {
  halted += 1;
  const id = ["alpha", "beta", "gamma"][halted % 3];
  const answer = await fetchOnNewConnection(`${operatorUrl(platform)}/v1/halts`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify({ id, reason: `under attack ${halted}`, confirmation: "HALT" }),
    signal: AbortSignal.timeout(answerMsMax),
  });
  const text = await answer.text();
  if (answer.status !== 201) throw new Error(`a halt was answered ${answer.status}: ${text}`);
}

async function sample(pids: Readonly<Record<string, number>>, work: () => Promise<void>): Promise<Sample> {
  const [began, before] = [Date.now(), timesOf(pids)];
  await work();
  const after = timesOf(pids);
  const waited = watchedProcesses.map((name): readonly [string, number] => [
    name,
    (after[name]?.waitedMs ?? 0) - (before[name]?.waitedMs ?? 0),
  ]);
  return { ms: Date.now() - began, waitedMs: Object.fromEntries(waited) };
}

interface Times {
  readonly ranMs: number;
  readonly waitedMs: number;
}

/** Of the thread that has the loop. */
function timesOf(pids: Readonly<Record<string, number>>): Readonly<Record<string, Times>> {
  return Object.fromEntries(
    watchedProcesses.map((name) => {
      const text = readFileSync(`/proc/${pids[name]}/task/${pids[name]}/schedstat`, "latin1");
      const [ran = 0, waited = 0] = text.split(" ").map(Number);
      return [name, { ranMs: ran / 1e6, waitedMs: waited / 1e6 }];
    }),
  );
}

const longestMs = (samples: readonly Sample[]): number => Math.max(0, ...samples.map(({ ms }) => ms));
const medianMs = (samples: readonly Sample[]): number =>
  samples.map(({ ms }) => ms).toSorted((one, other) => one - other)[samples.length >> 1] ?? 0;
const medianWaited = (samples: readonly Sample[]): string =>
  watchedProcesses
    .map((name) => {
      const all = samples.map(({ waitedMs }) => waitedMs[name] ?? 0).toSorted((one, other) => one - other);
      return `${(all[all.length >> 1] ?? 0).toFixed(0)}/${(all.at(-1) ?? 0).toFixed(0)}`;
    })
    .join(" ");

function line({ attack, halts, logIns, longest_task_ms, processorShare }: Round): string {
  const tasks = watchedProcesses.map((name) => (longest_task_ms[name] ?? 0).toFixed(0)).join("/");
  const shares = watchedProcesses.map((name) => (processorShare[name] ?? 0).toFixed(2)).join("/");
  return `${attack.padEnd(22)} halt ${medianMs(halts)}, ${longestMs(halts)} ms (others ran ${medianWaited(halts)}); log-in ${medianMs(logIns)}, ${longestMs(logIns)} ms (${medianWaited(logIns)}); longest task ${tasks} ms; processor ${shares}`;
}

function resultOf(rounds: readonly Round[]): BenchResult {
  const calm = rounds.filter(({ attack }) => attack.startsWith("quiet"));
  const bound = (of: "halts" | "logIns", max: number): number =>
    Math.max(max, calmFactor * Math.max(...calm.map((one) => longestMs(one[of]))));
  const [haltMax, logInMax] = [bound("halts", haltMsMax), bound("logIns", logInMsMax)];
  const shortfalls = rounds.flatMap((one) => [
    ...(longestMs(one.halts) > haltMax ? [`${one.attack}: a halt took ${longestMs(one.halts)} of ${haltMax} ms`] : []),
    ...(longestMs(one.logIns) > logInMax
      ? [`${one.attack}: a log-in took ${longestMs(one.logIns)} of ${logInMax} ms`]
      : []),
  ]);
  return { figures: { rounds }, table: rounds.map(line).join("\n"), shortfalls };
}

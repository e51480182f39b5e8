// How long does a person wait for `ctl --help`, for a list, and for the terminal desk's first full screen? Compared with Node that does nothing, in turns, in the
// same run: what ctl adds is its own. The server answers at once, so that its time is none of ctl's; only the help has a promise.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { subjects } from "../contracts/src/subjects.ts";
import { startDeskServer } from "../testkit/tui/desk-server.ts";
import type { Bench, BenchResult } from "./bench.ts";
import { median } from "./bus/contender.ts";

/** The promise: at most this many times Node's own start, plus this much. */
const ratioMax = 1.5;
const extraMs = 60;

export const ctlStart: Bench = {
  name: "ctl-start",
  sentence: "How long `ctl --help`, a list and the first screen of `ctl tui` take against `node -e 0`.",
  run: (progress) => runCtlStart({ rounds: 30, screens: 10 }, progress),
};

interface Counts {
  readonly rounds: number;
  /** How often what talks to a server is started. */
  readonly screens: number;
}

export async function runCtlStart({ rounds, screens }: Counts, progress: (line: string) => void): Promise<BenchResult> {
  const root = repository();
  const ctl = join(root, "node_modules", ".bin", "ctl");
  const server = await startDeskServer(subjects.haltRequested.name);
  const environment = { PORTCULLIS_URL: server.url, PORTCULLIS_TOKEN: "bench" };
  const elapsedMs = (command: string, parameters: readonly string[], whole?: RegExp) =>
    elapsed({ command, parameters, root, environment, whole });
  const measured = { node: [] as number[], help: [] as number[], list: [] as number[], screen: [] as number[] };
  try {
    progress(`starting each ${rounds} times, in turns, and what talks to a server ${screens} times`);
    // The first start builds the bundle when it is stale, which is not what is asked about.
    await elapsedMs(ctl, ["--help"]);
    for (let round = 0; round < rounds; round += 1) {
      measured.node.push(await elapsedMs(process.execPath, ["-e", "0"]));
      measured.help.push(await elapsedMs(ctl, ["--help"]));
      if (round >= screens) continue;
      measured.list.push(await elapsedMs(ctl, ["riskengine", "halts", "list"]));
      measured.screen.push(await elapsedMs("script", ["-qfc", `${ctl} tui`, "/dev/null"], fullScreen));
    }
  } finally {
    await server.close();
  }
  return resultOf(
    {
      node: median(measured.node),
      help: median(measured.help),
      list: median(measured.list),
      screen: median(measured.screen),
    },
    { rounds, screens },
  );
}

/** The last row of the first screen. */
const fullScreen = /NVDA[\s\S]*q quit/;

interface Medians {
  readonly node: number;
  readonly help: number;
  readonly list: number;
  readonly screen: number;
}

function resultOf({ node, help, list, screen }: Medians, counts: Counts): BenchResult {
  const limitMs = ratioMax * node + extraMs;
  const figures = {
    node_ms: round(node),
    ctl_help_ms: round(help),
    ctl_halts_list_ms: round(list),
    tui_first_screen_ms: round(screen),
    ratio: round(help / node),
    limit_ms: round(limitMs),
    ratio_max: ratioMax,
    extra_ms: extraMs,
    ...counts,
    node_version: process.version,
  };
  const table = [
    `node -e 0                  ${round(node)} ms`,
    `ctl --help                 ${round(help)} ms  (${round(help / node)} times)`,
    `ctl riskengine halts list  ${round(list)} ms  (${round(list / node)} times)`,
    `ctl tui, first full screen ${round(screen)} ms  (${round(screen / node)} times)`,
    `promised for the help      ${round(limitMs)} ms at most (${ratioMax} times node and ${extraMs} ms)`,
  ].join("\n");
  const shortfalls = help > limitMs ? [`ctl --help took ${round(help)} ms, more than ${round(limitMs)} ms`] : [];
  return { figures, table, shortfalls };
}

/** What takes longer is given up as failed. */
const startMsMax = 60_000;

interface Started {
  readonly command: string;
  readonly parameters: readonly string[];
  readonly root: string;
  readonly environment: Readonly<Record<string, string>>;
  /** What stands on the screen when it is whole; without it the end is waited for. */
  readonly whole: RegExp | undefined;
}

function elapsed({ command, parameters, root, environment, whole }: Started): Promise<number> {
  const called = `${command} ${parameters.join(" ")}`;
  return new Promise((resolve, reject) => {
    const startedMs = performance.now();
    const child = spawn(command, [...parameters], {
      cwd: root,
      env: { ...process.env, TERM: "xterm", ...environment },
      stdio: ["pipe", "pipe", "pipe"],
    });
    let output = "";
    let tookMs: number | undefined;
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      if (whole === undefined || tookMs !== undefined || !whole.test(output)) return;
      tookMs = performance.now() - startedMs;
      child.stdin.write("q");
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
    const slow = setTimeout(() => child.kill(), startMsMax);
    child.once("error", reject);
    child.once("close", (code) => {
      clearTimeout(slow);
      const ms = tookMs ?? (whole === undefined ? performance.now() - startedMs : undefined);
      if (code === 0 && ms !== undefined) resolve(ms);
      else reject(new Error(`${called} failed: ${output}`));
    });
  });
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

/** The bench runs from its bundle and its test from the source, at different depths. */
export function repository(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "edges", "ctl", "bin", "ctl.js"))) {
    const above = dirname(folder);
    if (above === folder) throw new Error("the bench does not stand inside the repository");
    folder = above;
  }
  return folder;
}

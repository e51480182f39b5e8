// How long does a person wait for `ctl --help`? Compared with Node that does nothing, in turns, in the same run: what ctl adds is its own.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Bench, BenchResult } from "./bench.ts";
import { median } from "./bus/contender.ts";

/** The promise: at most this many times Node's own start, plus this much. */
const ratioMax = 1.5;
const extraMs = 60;

export const ctlStart: Bench = {
  name: "ctl-start",
  sentence: "How long `ctl --help` takes against `node -e 0`.",
  run: (progress) => Promise.resolve(runCtlStart({ rounds: 30 }, progress)),
};

export function runCtlStart({ rounds }: { readonly rounds: number }, progress: (line: string) => void): BenchResult {
  const root = repository();
  const ctl = join(root, "node_modules", ".bin", "ctl");
  progress(`starting each ${rounds} times, in turns`);
  // The first start builds the bundle when it is stale, which is not what is asked about.
  elapsedMs(ctl, ["--help"], root);
  const nodeMs: number[] = [];
  const ctlMs: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    nodeMs.push(elapsedMs(process.execPath, ["-e", "0"], root));
    ctlMs.push(elapsedMs(ctl, ["--help"], root));
  }
  const [node, help] = [median(nodeMs), median(ctlMs)];
  const limitMs = ratioMax * node + extraMs;
  const figures = {
    node_ms: round(node),
    ctl_help_ms: round(help),
    ratio: round(help / node),
    limit_ms: round(limitMs),
    ratio_max: ratioMax,
    extra_ms: extraMs,
    rounds,
    node_version: process.version,
  };
  const table = [
    `node -e 0     ${round(node)} ms`,
    `ctl --help    ${round(help)} ms  (${round(help / node)} times)`,
    `promised      ${round(limitMs)} ms at most (${ratioMax} times node and ${extraMs} ms)`,
  ].join("\n");
  const shortfalls = help > limitMs ? [`ctl --help took ${round(help)} ms, more than ${round(limitMs)} ms`] : [];
  return { figures, table, shortfalls };
}

function elapsedMs(command: string, parameters: readonly string[], root: string): number {
  const startedMs = performance.now();
  const { status, stderr, error } = spawnSync(command, parameters, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  const tookMs = performance.now() - startedMs;
  if (status !== 0)
    throw new Error(`${command} ${parameters.join(" ")} failed: ${error?.message ?? stderr.toString()}`);
  return tookMs;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

/** The bench runs from its bundle and its test from the source, at different depths. */
function repository(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "edges", "ctl", "bin", "ctl.js"))) {
    const above = dirname(folder);
    if (above === folder) throw new Error("the bench does not stand inside the repository");
    folder = above;
  }
  return folder;
}

// A run with a liar in words: the same for the same arguments, and how to replay it when it broke an invariant.
import type { LiarReport } from "./simulate.ts";

export interface AskedLiarRun {
  readonly seed: number;
  readonly steps: number;
  /** A name of `--plant`. */
  readonly plant?: string | undefined;
}

export function replayCommand({ seed, steps, plant }: AskedLiarRun): string {
  return `simulateLiar({ seed: ${seed}, steps: ${steps}${plant === undefined ? "" : `, plantedBug: "${plant}"`} })`;
}

const counted = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([what, count]) => `${count} ${what}`)
    .join(", ");

export function describeReport(asked: AskedLiarRun, report: LiarReport): string {
  const { told, restarts, blocks, happened, elapsedMs, violation } = report;
  const lines = [
    `seed       ${asked.seed}`,
    `steps      ${asked.steps} (${elapsedMs} ms of virtual time), ${restarts} kills`,
    `happened   ${counted(happened)}`,
    `lies       ${counted(told)}`,
    `blocks     ${blocks} open when the liar fell silent`,
  ];
  if (violation === undefined) return [...lines, "ok         all 7 invariants held"].join("\n");
  return [...lines, `VIOLATED   ${violation}`, `replay     ${replayCommand(asked)}`].join("\n");
}

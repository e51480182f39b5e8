// A run of the watchdogs alone, in words: the same for the same arguments, byte for byte, and how to replay it when it broke an invariant.
import type { WatchdogReport } from "./simulate.ts";

export interface AskedWatchdogRun {
  readonly seed: number;
  readonly steps: number;
  /** A name of `--plant`. */
  readonly plant?: string | undefined;
}

export function replayCommand({ seed, steps, plant }: AskedWatchdogRun): string {
  return `npm run sim -- --watchdogs --seed ${seed} --steps ${steps}${plant === undefined ? "" : ` --plant ${plant}`}`;
}

export function describeReport(asked: AskedWatchdogRun, report: WatchdogReport): string {
  const { kills, opened, ended, halts, violation } = report;
  const lines = [
    `seed       ${asked.seed}`,
    `steps      ${asked.steps}`,
    `kills      ${kills}`,
    `episodes   ${opened} opened; people ended ${ended} restrictions; ${halts} halts`,
  ];
  if (violation === undefined) return [...lines, "ok         all 5 invariants held"].join("\n");
  return [...lines, `VIOLATED   ${violation}`, `replay     ${replayCommand(asked)}`].join("\n");
}

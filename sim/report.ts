// A run in words: the same for the same arguments, byte for byte, and how to replay it when it broke an invariant.
import { invariants } from "./invariants.ts";
import type { SimOptions, SimReport } from "./simulate.ts";

export function replayCommand({ seed, steps, canary, plantedBug }: SimOptions): string {
  const planted = plantedBug === undefined ? "" : ` --plant ${plantedBug.name}`;
  return `npm run sim -- --seed ${seed} --steps ${steps}${canary === true ? " --canary" : ""}${planted}`;
}

/** A run that was ended by a violation may not have come to the end of its faults. */
function stepsText(foul: number, all: number): string {
  return all <= foul ? `${all} with faults` : `${foul} with faults, ${all - foul} to settle`;
}

export function describeReport(options: SimOptions, report: SimReport): string {
  const lines = [
    `seed       ${options.seed}`,
    `steps      ${report.steps}: ${stepsText(options.steps, report.steps)} (${report.elapsedMs} ms of virtual time)`,
    `crashes    ${report.crashes}`,
    `commits    ${report.fates.map(([fate, count]) => `${count} ${fate}`).join("; ")}`,
    `happened   ${Object.entries(report.counts)
      .map(([what, count]) => `${count} ${what}`)
      .join(", ")}`,
    `trace      ${report.trace}`,
  ];
  if (report.violation === undefined)
    return [...lines, `ok         all ${invariants.length} invariants held`].join("\n");
  const { invariant, complaint } = report.violation;
  return [
    ...lines,
    `VIOLATED   ${invariant.name}: ${complaint}`,
    `because    ${invariant.sentence}`,
    `replay     ${replayCommand(options)}`,
  ].join("\n");
}

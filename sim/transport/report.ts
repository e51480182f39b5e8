// A run of the transport alone, in words: the same for the same arguments, byte for byte, and how to replay it when it broke an invariant.
import { invariants } from "./invariants.ts";
import type { SimOptions, SimReport } from "./simulate.ts";

export function replayCommand({ seed, steps, canary }: SimOptions): string {
  return `npm run sim -- --transport --seed ${seed} --steps ${steps}${canary === true ? " --canary" : ""}`;
}

export function describeReport(options: SimOptions, report: SimReport): string {
  const lines = [
    `seed       ${options.seed}`,
    `steps      ${report.steps} (${report.elapsedMs} ms of virtual time)`,
    `crashes    ${report.crashes}`,
    `commits    ${report.fates.map(([fate, count]) => `${count} ${fate}`).join("; ")}`,
    `events     ${report.committed} committed, ${report.deliveries} deliveries, ${report.repeated} of them repeated, ${report.parked} parked`,
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

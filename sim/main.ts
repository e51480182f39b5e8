// `npm run sim -- --seed N [--steps M] [--canary]`: one simulated run. stdout is the same for the same arguments, byte for
// byte; how long it took is told on stderr. A run that breaks an invariant says which, why it matters and how to replay it.
import { parseArgs } from "node:util";
import { exitCodes } from "../contracts/src/codes/shape.ts";
import { messageOf } from "../contracts/src/fault.ts";
import { ignoreEndedIncarnations } from "../testkit/virtual/incarnation.ts";
import { invariants } from "./invariants.ts";
import { type SimOptions, type SimReport, simulate } from "./simulate.ts";

const usage = "usage: npm run sim -- --seed N [--steps M] [--canary]";
const stepsDefault = 3_000;

/** A run checks everything after every step, so its cost grows with the square of its length: more takes over a minute. */
const stepsMax = 20_000;

function optionsOf(argv: readonly string[]): SimOptions {
  const { values } = parseArgs({
    args: [...argv],
    options: { seed: { type: "string" }, steps: { type: "string" }, canary: { type: "boolean", default: false } },
  });
  const seed = wholeNumber("--seed", values.seed ?? "1", 0, Number.MAX_SAFE_INTEGER);
  const steps = wholeNumber("--steps", values.steps ?? String(stepsDefault), 1, stepsMax);
  return { seed, steps, canary: values.canary };
}

function wholeNumber(flag: string, text: string, min: number, max: number): number {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(value) && value >= min && value <= max) return value;
  throw new Error(`${flag} takes a whole number from ${min} to ${max}, not ${JSON.stringify(text)}`);
}

export function replayCommand({ seed, steps, canary }: SimOptions): string {
  return `npm run sim -- --seed ${seed} --steps ${steps}${canary === true ? " --canary" : ""}`;
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

export async function main(argv: readonly string[]): Promise<number> {
  let options: SimOptions;
  try {
    options = optionsOf(argv);
  } catch (thrown) {
    process.stderr.write(`${messageOf(thrown)}\n${usage}\n`);
    return exitCodes.usage;
  }
  const restore = ignoreEndedIncarnations();
  const startedAtNs = process.hrtime.bigint();
  try {
    const report = await simulate(options);
    process.stdout.write(`${describeReport(options, report)}\n`);
    return report.violation === undefined ? exitCodes.ok : exitCodes.failed;
  } catch (thrown) {
    process.stdout.write(`FAILED     ${messageOf(thrown)}\nreplay     ${replayCommand(options)}\n`);
    return exitCodes.failed;
  } finally {
    restore();
    process.stderr.write(`took ${(process.hrtime.bigint() - startedAtNs) / 1_000_000n} ms\n`);
  }
}

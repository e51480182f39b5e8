// `npm run sim -- --seed N [--steps M] [--canary]`: one simulated run. stdout is the same for the same arguments, byte for
// byte; how long it took is told on stderr. A run that breaks an invariant says which, why it matters and how to replay it.
import { parseArgs } from "node:util";
import { exitCodes } from "../contracts/src/codes/shape.ts";
import { messageOf } from "../contracts/src/fault.ts";
import { ignoreEndedIncarnations } from "../testkit/virtual/incarnation.ts";
import { invariants } from "./invariants.ts";
import { type SimOptions, type SimReport, simulate } from "./simulate.ts";

const stepsDefault = 3_000;

/** A run checks everything after every step, so its cost grows with the square of its length: more takes over a minute. */
const stepsMax = 20_000;

const usage = "usage: npm run sim -- --seed N [--steps M] [--canary]";
const help = `${usage}

  --seed N    which run: the same seed is the same run, byte for byte (default 1)
  --steps M   how many steps, from 1 to ${stepsMax} (default ${stepsDefault})
  --canary    plant a mistake, which the run has to catch: it must fail
  --help      show this
`;

/** The options of a run, or "help" when that was asked for. */
function optionsOf(argv: readonly string[]): SimOptions | "help" {
  const { values } = parseArgs({
    args: [...withNegatives(argv)],
    options: {
      seed: { type: "string" },
      steps: { type: "string" },
      canary: { type: "boolean", default: false },
      help: { type: "boolean", default: false, short: "h" },
    },
  });
  if (values.help) return "help";
  const seed = wholeNumber("--seed", values.seed ?? "1", 0, Number.MAX_SAFE_INTEGER);
  const steps = wholeNumber("--steps", values.steps ?? String(stepsDefault), 1, stepsMax);
  return { seed, steps, canary: values.canary };
}

/** `--seed -1` as `--seed=-1`: the parser would take the number for a flag and say so at length. */
function withNegatives(argv: readonly string[]): readonly string[] {
  const isNegative = (word: string | undefined): boolean => /^-\d/.test(word ?? "");
  const takesNumber = (word: string | undefined): boolean => word === "--seed" || word === "--steps";
  return argv.flatMap((word, index) => {
    if (takesNumber(word) && isNegative(argv[index + 1])) return [`${word}=${argv[index + 1]}`];
    return isNegative(word) && takesNumber(argv[index - 1]) ? [] : [word];
  });
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
  let options: SimOptions | "help";
  try {
    options = optionsOf(argv);
  } catch (thrown) {
    process.stderr.write(`${messageOf(thrown)}\n${usage}\n`);
    return exitCodes.usage;
  }
  if (options === "help") {
    process.stdout.write(help);
    return exitCodes.ok;
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

// `npm run sim -- --seed N [--steps M] [--canary] [--plant NAME]`: one simulated run of the whole platform; with --transport one of the memory
// transport alone, with --watchdogs one of the watchdogs. stdout is the same for the same arguments, byte for byte; how long it took goes to stderr. A run
// that breaks an invariant says which, why it matters and how to replay it.
import { parseArgs } from "node:util";
import { exitCodes } from "../contracts/src/codes/shape.ts";
import { messageOf } from "../contracts/src/fault.ts";
import { ignoreEndedIncarnations } from "../testkit/virtual/incarnation.ts";
import type { PlantedBug } from "./planted-bug.ts";
import { plantedBugs } from "./planted-bugs.ts";
import { describeReport, replayCommand } from "./report.ts";
import { type SimOptions, simulate } from "./simulate.ts";
import * as transportReport from "./transport/report.ts";
import { simulate as simulateTransport } from "./transport/simulate.ts";
import { watchdogBugs } from "./watchdogs/planted-bugs.ts";
import * as watchdogReport from "./watchdogs/report.ts";
import { simulateWatchdogs } from "./watchdogs/simulate.ts";

const stepsDefault = 3_000;
const watchdogStepsDefault = 40;

/** More takes over a minute. */
const stepsMax = 20_000;

const usage = "usage: npm run sim -- --seed N [--steps M] [--canary] [--plant NAME] [--transport | --watchdogs]";
const help = `${usage}

  --seed N      which run: the same seed is the same run, byte for byte (default 1)
  --steps M     how many steps with faults, from 1 to ${stepsMax} (default ${stepsDefault})
  --canary      add an invariant that does not hold, which the run has to say: it must fail
  --plant NAME  build a mistake in, which some seed must find:
${plantedBugs.map(({ name, sentence }) => `                  ${name.padEnd(20)}${sentence}`).join("\n")}
  --transport   the memory store and bus alone, with toy services
  --watchdogs   the watchdogs alone, killed amid their changes (default ${watchdogStepsDefault} steps); --plant takes:
${Object.entries(watchdogBugs)
  .map(([name, { sentence }]) => `                  ${name.padEnd(20)}${sentence}`)
  .join("\n")}
  --help        show this
`;

interface Asked extends SimOptions {
  readonly transport: boolean;
  /** A run of the watchdogs alone, with the name of what is planted. */
  readonly watchdogs?: { readonly plant: string | undefined };
}

/** The options of a run, or "help" when that was asked for. */
function optionsOf(argv: readonly string[]): Asked | "help" {
  const { values } = parseArgs({
    args: [...withNegatives(argv)],
    options: {
      seed: { type: "string" },
      steps: { type: "string" },
      canary: { type: "boolean", default: false },
      plant: { type: "string" },
      transport: { type: "boolean", default: false },
      watchdogs: { type: "boolean", default: false },
      help: { type: "boolean", default: false, short: "h" },
    },
  });
  if (values.help) return "help";
  const { canary, transport, watchdogs, plant } = values;
  const seed = wholeNumber("--seed", values.seed ?? "1", 0, Number.MAX_SAFE_INTEGER);
  const usual = watchdogs ? watchdogStepsDefault : stepsDefault;
  const steps = wholeNumber("--steps", values.steps ?? String(usual), 1, stepsMax);
  if (watchdogs) {
    if (transport || canary) throw new Error("--watchdogs stands alone, or with --plant");
    mustBeOneOf(plant, Object.keys(watchdogBugs));
    return { seed, steps, transport, watchdogs: { plant } };
  }
  const plantedBug = plantedBugOf(plant);
  if (transport && plantedBug !== undefined)
    throw new Error("--plant is for runs of the whole platform, without --transport");
  return { seed, steps, canary, transport, plantedBug };
}

function plantedBugOf(name: string | undefined): PlantedBug | undefined {
  if (name === undefined) return undefined;
  mustBeOneOf(
    name,
    plantedBugs.map((plantedBug) => plantedBug.name),
  );
  return plantedBugs.find((plantedBug) => plantedBug.name === name);
}

function mustBeOneOf(name: string | undefined, names: readonly string[]): void {
  if (name === undefined || names.includes(name)) return;
  throw new Error(`--plant takes one of ${names.join(", ")}, not ${JSON.stringify(name)}`);
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

/** What there is to say about the run, and whether every invariant held. */
async function runOf(asked: Asked): Promise<{ readonly text: string; readonly held: boolean }> {
  const { transport, watchdogs, ...options } = asked;
  if (watchdogs !== undefined) {
    const { seed, steps } = options;
    const plantedBug = watchdogBugs[watchdogs.plant ?? ""]?.plant;
    const report = await simulateWatchdogs({ seed, steps, ...(plantedBug !== undefined && { plantedBug }) });
    const text = watchdogReport.describeReport({ seed, steps, plant: watchdogs.plant }, report);
    return { text, held: report.violation === undefined };
  }
  if (transport) {
    const { plantedBug: _none, ...plain } = options;
    const report = await simulateTransport(plain);
    return { text: transportReport.describeReport(plain, report), held: report.violation === undefined };
  }
  const report = await simulate(options);
  return { text: describeReport(options, report), held: report.violation === undefined };
}

function replayOf(asked: Asked): string {
  const { transport, watchdogs, ...options } = asked;
  if (watchdogs !== undefined) return watchdogReport.replayCommand({ ...options, plant: watchdogs.plant });
  return transport ? transportReport.replayCommand(options) : replayCommand(options);
}

export async function main(argv: readonly string[]): Promise<number> {
  let options: Asked | "help";
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
    const { text, held } = await runOf(options);
    process.stdout.write(`${text}\n`);
    return held ? exitCodes.ok : exitCodes.failed;
  } catch (thrown) {
    process.stdout.write(`FAILED     ${messageOf(thrown)}\nreplay     ${replayOf(options)}\n`);
    return exitCodes.failed;
  } finally {
    restore();
    process.stderr.write(`took ${(process.hrtime.bigint() - startedAtNs) / 1_000_000n} ms\n`);
  }
}

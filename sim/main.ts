// `npm run sim -- --seed N [--steps M] [--canary] [--plant NAME]`: one simulated run of the whole platform; with --transport one of the memory
// transport alone. stdout is the same for the same arguments, byte for byte; how long it took is reported on stderr. A run that breaks an invariant says
// which, why it matters and how to replay it.
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

const stepsDefault = 3_000;

/** More takes over a minute. */
const stepsMax = 20_000;

const usage = "usage: npm run sim -- --seed N [--steps M] [--canary] [--plant NAME] [--transport]";
const help = `${usage}

  --seed N      which run: the same seed is the same run, byte for byte (default 1)
  --steps M     how many steps in faults, from 1 to ${stepsMax} (default ${stepsDefault})
  --canary      add an invariant that does not hold, which the run has to say: it must fail
  --plant NAME  build a mistake in, which some seed must find:
${plantedBugs.map(({ name, sentence }) => `                  ${name.padEnd(18)}${sentence}`).join("\n")}
  --transport   the memory store and bus alone, with toy services
  --help        show this
`;

interface Asked extends SimOptions {
  readonly transport: boolean;
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
      help: { type: "boolean", default: false, short: "h" },
    },
  });
  if (values.help) return "help";
  const { canary, transport } = values;
  const seed = wholeNumber("--seed", values.seed ?? "1", 0, Number.MAX_SAFE_INTEGER);
  const steps = wholeNumber("--steps", values.steps ?? String(stepsDefault), 1, stepsMax);
  const plantedBug = plantedBugOf(values.plant);
  if (transport && plantedBug !== undefined)
    throw new Error("--plant is for runs of the whole platform, without --transport");
  return { seed, steps, canary, transport, plantedBug };
}

function plantedBugOf(name: string | undefined): PlantedBug | undefined {
  if (name === undefined) return undefined;
  const found = plantedBugs.find((plantedBug) => plantedBug.name === name);
  if (found !== undefined) return found;
  throw new Error(
    `--plant takes one of ${plantedBugs.map((plantedBug) => plantedBug.name).join(", ")}, not ${JSON.stringify(name)}`,
  );
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
async function runOf({ transport, ...options }: Asked): Promise<{ readonly text: string; readonly held: boolean }> {
  if (transport) {
    const { plantedBug: _none, ...plain } = options;
    const report = await simulateTransport(plain);
    return { text: transportReport.describeReport(plain, report), held: report.violation === undefined };
  }
  const report = await simulate(options);
  return { text: describeReport(options, report), held: report.violation === undefined };
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
    const replay = options.transport ? transportReport.replayCommand(options) : replayCommand(options);
    process.stdout.write(`FAILED     ${messageOf(thrown)}\nreplay     ${replay}\n`);
    return exitCodes.failed;
  } finally {
    restore();
    process.stderr.write(`took ${(process.hrtime.bigint() - startedAtNs) / 1_000_000n} ms\n`);
  }
}

// `ctl doctor`: everything that must be in order before ctl can work, each with what to do when it is not. A check never ends the others.
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import type { BlocksSeen, Check, HaltsSeen } from "../doctor/checks.ts";
import { clean } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const doctor: Verb = {
  name: "doctor",
  heading: "The platform on this machine",
  sentence: "Check this machine, the server and your login, and say what to do.",
  about: "Exit 1 when something fails; a warning is exit 0.",
  arguments: [],
  options: [],
  examples: [
    { command: "ctl doctor", sentence: "Look at everything." },
    { command: "ctl doctor --json", sentence: "The same for a program." },
  ],
  operation: "ReadHealth",
  changesState: false,
  run,
};

async function run(context: Context): Promise<Answer> {
  const { allChecks, blocksSeen, haltsSeen } = await import("../doctor/checks.ts");
  const checks: readonly Check[] = await allChecks(context);
  const halts = await haltsSeen(context, checks);
  const blocks = await blocksSeen(context, checks);
  const failing = checks.filter((check) => check.state === "fail").length;
  const warnings = checks.filter((check) => check.state === "warn").length;
  const { paintAnswer: paint } = context.terminal;
  const marks = { ok: paint.green("ok  "), warn: paint.yellow("warn"), fail: paint.red("fail") };
  const width = Math.max(...checks.map((check) => check.name.length));
  const lines = checks.flatMap(({ name, state, detail, advice }) => [
    `${marks[state]}  ${name.padEnd(width)}  ${clean(detail)}`,
    ...(advice === undefined || state === "ok" ? [] : [`${" ".repeat(width + 8)}-> ${clean(advice)}`]),
  ]);
  const halted = halts === undefined ? [] : [isQuiet(halts) ? haltsLine(halts) : paint.yellow(haltsLine(halts))];
  return {
    data: {
      status: failing > 0 ? "fail" : warnings > 0 ? "warn" : "ok",
      checks,
      ...(halts === undefined ? {} : { halts }),
      ...(blocks === undefined ? {} : { blocks }),
    },
    text: [...lines, "", ...halted, ...blocksLines(blocks), summaryOf(failing, warnings, halts)].join("\n"),
    exit: failing > 0 ? exitCodes.failed : exitCodes.ok,
  };
}

function isQuiet(halts: HaltsSeen): boolean {
  return halts.known && halts.in_force === 0;
}

function haltsLine(halts: HaltsSeen): string {
  const look = "`ctl riskengine halts list`";
  if (!halts.known) return `Halts: cannot be listed (${clean(halts.detail)}); they hold all the same: ${look}`;
  if (halts.strictest === undefined) return "Halts: none in force.";
  return `Halts: ${halts.in_force} in force, the strictest ${halts.strictest}: ${look}`;
}

const blocksShownMax = 10;

/** Each by its code and where it holds; what ends it is the list's to say. */
function blocksLines(seen: BlocksSeen | undefined): readonly string[] {
  const look = "`ctl riskengine blocks list`";
  if (seen === undefined) return [];
  if (!seen.known) return [`New risk: not known what denies it (${clean(seen.detail)}): ${look}`];
  const { blocks } = seen;
  if (blocks.length === 0) return ["New risk: no standing condition denies it."];
  const shown = blocks.slice(0, blocksShownMax).map(({ code, scope, id }) => `${code} (${`${scope} ${id}`.trim()})`);
  const more = blocks.length > blocksShownMax ? ` and ${blocks.length - blocksShownMax} more` : "";
  return [`New risk is denied by ${clean(shown.join(", "))}${more}: ${look}`];
}

/** A platform that is in order and may not trade is never reported as if nothing was the matter. */
function summaryOf(failing: number, warnings: number, halts: HaltsSeen | undefined): string {
  const toLookAt = `${warnings} to check`;
  if (halts === undefined || isQuiet(halts)) {
    if (failing > 0) return `${failing} failing, ${toLookAt}.`;
    return warnings === 0 ? "All in order." : `In order, ${toLookAt}.`;
  }
  const held = halts.known
    ? `${halts.in_force} ${halts.in_force === 1 ? "halt is" : "halts are"} in force`
    : "whether a halt is in force is not known";
  if (failing > 0) return `${failing} failing, ${toLookAt}; ${held}.`;
  return `The platform is in order${warnings === 0 ? "" : `, ${toLookAt}`}; ${held}.`;
}

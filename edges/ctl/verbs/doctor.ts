// `ctl doctor`: everything that must be in order before ctl can work, each with what to do when it is not. A check never ends the others.
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import type { Context } from "../context.ts";
import type { Check } from "../doctor-checks.ts";
import { clean } from "../text.ts";
import type { Answer, Verb } from "./verb.ts";

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
  const { allChecks } = await import("../doctor-checks.ts");
  const checks: readonly Check[] = await allChecks(context);
  const failing = checks.filter((check) => check.state === "fail").length;
  const warnings = checks.filter((check) => check.state === "warn").length;
  const { paintAnswer: paint } = context.terminal;
  const marks = { ok: paint.green("ok  "), warn: paint.yellow("warn"), fail: paint.red("fail") };
  const width = Math.max(...checks.map((check) => check.name.length));
  const lines = checks.flatMap(({ name, state, detail, advice }) => [
    `${marks[state]}  ${name.padEnd(width)}  ${clean(detail)}`,
    ...(advice === undefined || state === "ok" ? [] : [`${" ".repeat(width + 8)}-> ${clean(advice)}`]),
  ]);
  const summary =
    failing === 0
      ? warnings === 0
        ? "All in order."
        : `In order, ${warnings} to look at.`
      : `${failing} failing, ${warnings} to look at.`;
  return {
    data: { status: failing > 0 ? "fail" : warnings > 0 ? "warn" : "ok", checks },
    text: [...lines, "", summary].join("\n"),
    exit: failing > 0 ? exitCodes.failed : exitCodes.ok,
  };
}

// `ctl operations drills run`: trips a halt of the drill scope, and tells how long each step took.
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import { reasonOf, reasonOption } from "../reason.ts";
import { drillText } from "../text/drill-text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

const answerMsMax = 40_000;

export const operationsDrillsRun: Verb = {
  name: "operations drills run",
  heading: "Halts",
  sentence: "Trip a halt of the drill scope, and measure what follows.",
  about: "No fund of anybody is touched. Exit 10 when a step did not happen in time.",
  arguments: [],
  options: [reasonOption],
  examples: [{ command: "ctl operations drills run --reason monthly", sentence: "The monthly drill." }],
  operation: "RunDrill",
  changesState: true,
  run,
};

async function run(context: Context): Promise<Answer> {
  const drill = await (await context.client(answerMsMax)).runDrill(reasonOf(context));
  return { data: drill, text: drillText(drill), exit: drill.passed ? exitCodes.ok : exitCodes.verificationFailed };
}

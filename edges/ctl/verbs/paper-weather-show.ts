// `ctl paper weather show`: what the paper broker and the paper market are made to suffer.

import { faultsText } from "../../words/fault-text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const paperFaultsShow: Verb = {
  name: "paper weather show",
  heading: "Drills",
  sentence: "Show what the paper broker and market are made to suffer.",
  arguments: [],
  options: [],
  examples: [{ command: "ctl paper weather show", sentence: "Is a drill under way?" }],
  operation: "GetPaperWeather",
  changesState: false,
  run,
};

async function run(context: Context): Promise<Answer> {
  const faults = await (await context.client()).getPaperWeather();
  return { data: faults, text: faultsText(faults, context.clock.now()) };
}

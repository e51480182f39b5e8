// `ctl help`: the help page of a command, and two pages that belong to none.

import { usageRefusal } from "../failure.ts";
import { helpPage } from "../program.ts";
import { suggestions } from "../suggest.ts";
import { environmentPage, exitCodePage } from "../text/pages.ts";
import { groupsOf } from "../verb-groups.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const help: Verb = {
  name: "help",
  heading: "More",
  sentence: "Explain a command, the exit codes or the environment variables.",
  arguments: [
    {
      name: "topic",
      sentence: "A command, `exit-codes` or `environment`.",
      optional: true,
      many: true,
      values: ["exit-codes", "environment"],
    },
  ],
  options: [],
  examples: [
    { command: "ctl help auth login", sentence: "Everything about one command." },
    { command: "ctl help exit-codes", sentence: "What a script can rely on." },
    { command: "ctl help environment", sentence: "The variables that ctl reads." },
  ],
  changesState: false,
  run,
};

async function run(context: Context): Promise<Answer> {
  const words = context.argumentsOf("topic");
  if (words.join(" ") === "exit-codes") return exitCodePage();
  if (words.join(" ") === "environment") return environmentPage();

  const grammar = { verbs: context.verbs, groups: groupsOf(context.verbs) };
  const text = helpPage(words, grammar, context.terminal.paintAnswer);
  if (text !== undefined) return { data: { help: text }, text: text.trimEnd() };
  const near = suggestions(words, grammar);
  const hint = near.length === 0 ? "`ctl --help` lists what there is." : `Did you mean \`ctl help ${near[0]}\`?`;
  throw usageRefusal(`There is no help on "${words.join(" ")}".`, hint);
}

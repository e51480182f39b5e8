// `ctl completion`: a script that completes commands and options in a shell. It is made from the list of verbs and asks nobody at Tab.

import { usageRefusal } from "../failure.ts";
import { groupsOf } from "../verb-groups.ts";
import type { Answer, Context, Verb } from "./verb.ts";

const shells = ["bash", "zsh", "fish", "powershell"] as const;

export const completion: Verb = {
  name: "completion",
  heading: "More",
  sentence: "Print a script that completes ctl's commands in your shell.",
  arguments: [{ name: "shell", sentence: "bash, zsh, fish or powershell.", values: shells, closed: true }],
  options: [],
  examples: [
    { command: "ctl completion bash", sentence: 'In ~/.bashrc: eval "$(ctl completion bash)"' },
    { command: "ctl completion zsh", sentence: 'In ~/.zshrc after compinit: eval "$(ctl completion zsh)"' },
    { command: "ctl completion fish", sentence: "Into ~/.config/fish/completions/ctl.fish" },
    {
      command: "ctl completion powershell",
      sentence: "In $PROFILE: ctl completion powershell | Out-String | Invoke-Expression",
    },
  ],
  changesState: false,
  run,
};

async function run(context: Context): Promise<Answer> {
  const { completionScript } = await import("../completion-scripts.ts");

  const asked = context.argument("shell");
  const shell = shells.find((name) => name === asked);
  if (shell === undefined) throw usageRefusal(`There is no script for "${asked}".`);
  const { serviceOperations } = await import("../../../contracts/src/authority.ts");
  const script = completionScript(
    shell,
    { verbs: context.verbs, groups: groupsOf(context.verbs) },
    { operation: serviceOperations },
  );
  return { data: { shell, script }, text: script.trimEnd() };
}

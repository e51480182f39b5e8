// `ctl up`: starts the platform of this checkout. In the foreground it is `npm start`; detached it comes back when the platform is healthy.
import type { ExitCode } from "../../../contracts/src/codes/shape.ts";
import { operatorAddress, type RunFacts, runningPlatform } from "../data-folder.ts";
import { pairs } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const up: Verb = {
  name: "up",
  heading: "The platform on this machine",
  sentence: "Start the platform from this repository.",
  about:
    "Stays in the foreground, like `npm start`, until Ctrl-C; with --detach it returns when the platform is healthy. A platform that runs " +
    "already is left alone. Settings: docs/configuration.md.",
  arguments: [],
  options: [{ name: "detach", sentence: "Run in the background and return when it is healthy." }],
  examples: [
    { command: "ctl up", sentence: "In this terminal." },
    { command: "ctl up --detach", sentence: "In the background; `ctl down` stops it." },
  ],
  changesState: true,
  run,
};

async function run(context: Context): Promise<Answer> {
  const running = runningPlatform(context);
  const { isHealthy, repositoryOf, runInForeground, startDetached } = await import("../platform-process.ts");
  if (running !== undefined) {
    const address = operatorAddress(running);
    const healthy = address !== undefined && (await isHealthy(address));
    context.terminal.say(
      `It runs already${healthy ? "" : ", and is not healthy at the moment: `ctl doctor` looks closer"}.`,
    );
    return { data: { status: "already running", healthy, ...running }, text: pairs(rowsOf(running)) };
  }
  const repository = repositoryOf(context);
  if (!context.switched("detach")) {
    const exit = await runInForeground(context, repository);
    return { data: { status: "stopped", exit_code: exit }, text: "", exit: exit as ExitCode };
  }
  context.terminal.say("Starting the platform in the background.");
  const { facts, logPath } = await startDetached(context, repository);
  return {
    data: { status: "started", healthy: true, ...facts, log: logPath },
    text: pairs([...rowsOf(facts), ["log", logPath]]),
    next: [
      "ctl auth login --dev duty   log in as its development operator (in production: ctl auth login)",
      "ctl down                    stop it",
    ],
  };
}

function rowsOf({ addresses, pid, data_dir }: RunFacts): readonly (readonly [string, string])[] {
  const places = Object.entries(addresses).map(([name, address]) => [name, String(address)] as const);
  return [...places, ["process", String(pid)], ["data", data_dir]];
}

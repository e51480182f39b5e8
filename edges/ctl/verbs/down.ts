// `ctl down`: stops the platform that run.json names, and waits until it has ended.

import { dataFolders, runningPlatform } from "../data-folder.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const down: Verb = {
  name: "down",
  heading: "The platform on this machine",
  sentence: "Stop the platform that runs here, and wait until it has ended.",
  arguments: [],
  options: [],
  examples: [{ command: "ctl down", sentence: "Drain and stop." }],
  changesState: true,
  run,
};

async function run(context: Context): Promise<Answer> {
  const running = runningPlatform(context);
  if (running === undefined) {
    const where = dataFolders(context).join(" or ");
    return { data: { status: "not running" }, text: `No platform runs from ${where}.` };
  }
  context.terminal.say(`Asking process ${running.pid} to end.`);
  const { stopPlatform } = await import("../platform-process.ts");
  await stopPlatform(context, running);
  return { data: { status: "stopped", pid: running.pid }, text: "Stopped." };
}

// `ctl operations audit witness`: runs a C2SP witness in the foreground. It needs no platform: it belongs on another machine, in other hands.
import { resolve } from "node:path";
import { Fault } from "../../../contracts/src/fault.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const operationsAuditWitness: Verb = {
  name: "operations audit witness",
  heading: "The record",
  sentence: "Run a witness that cosigns an audit log's checkpoints, on a machine of somebody else.",
  about:
    "It keeps the largest checkpoint that it saw of each log and cosigns only what continues it. Its key is made at the first start and stays in its folder, which must not be copied or restored from a backup.",
  arguments: [],
  options: [
    {
      name: "log",
      value: "vkey",
      repeats: true,
      required: true,
      sentence: "A log's key, as `ctl operations audit status` prints it.",
    },
    {
      name: "name",
      value: "name",
      required: true,
      sentence: "The name under which it cosigns, for example witness.example.com/w1.",
    },
    {
      name: "witness-folder",
      value: "path",
      standard: "witness",
      sentence: "Where it keeps its key and what it cosigned.",
    },
    { name: "host", value: "address", standard: "127.0.0.1", sentence: "Where it listens." },
    { name: "port", value: "number", standard: "8091", sentence: "On which port." },
  ],
  examples: [
    {
      command: "ctl operations audit witness --name witness.example.com/w1 --log portcullis/audit/…+1a2b3c4d+AQ…",
      sentence: "Cosign that log until Ctrl-C.",
    },
  ],
  changesState: false,
  run,
};

async function run(context: Context): Promise<Answer> {
  const port = Number(context.option("port") ?? "8091");
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new Fault("INVALID_ARGUMENT", "--port is a number from 0 to 65535.", { retry: "never" });
  }
  await context.runWitness(
    {
      logs: context.optionsOf("log"),
      name: context.option("name") ?? "",
      folder: resolve(context.folder, context.option("witness-folder") ?? "witness"),
      host: context.option("host") ?? "127.0.0.1",
      port,
    },
    (line) => context.terminal.say(line),
    context.signal,
  );
  return { data: { status: "ended" }, text: "" };
}

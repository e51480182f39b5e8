// `ctl signals test`: what would become of an alert, sent as it stands in a file.
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import { messageOf } from "../../../contracts/src/fault.ts";
import { usageRefusal } from "../failure.ts";
import { clean } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const signalsTest: Verb = {
  name: "signals test",
  heading: "Signals",
  sentence: "See what would become of an alert; nothing is kept.",
  about:
    "Every check of the webhook but the caller's address, the translated symbol, and a dry run through the gates. Exit 6 when it would be refused.",
  arguments: [],
  options: [
    {
      name: "file",
      value: "FILE",
      required: true,
      sentence: "The alert as it would be sent, its secret included; only you should be able to read it.",
    },
  ],
  examples: [{ command: "ctl signals test --file alert.json", sentence: "Before it is pasted." }],
  operation: "TestSignal",
  changesState: false,
  run,
};

async function run(context: Context): Promise<Answer> {
  const path = resolve(context.folder, context.option("file") ?? "");
  let body: string;
  try {
    body = await readFile(path, "utf8");
  } catch (thrown) {
    throw usageRefusal(`${path} cannot be read: ${messageOf(thrown)}.`);
  }
  const test = await (await context.client()).testSignal({}, { body });
  const { would_accept: isAccepted, http_status: status, code, detail, symbol, decision, warnings } = test;
  const isDenied = decision !== undefined && !decision.approved;
  const lines = [
    isAccepted ? `It would be accepted (${status}).` : `It would be refused: ${status} ${code}. ${detail}`,
    ...(symbol === "" ? [] : [`Symbol: ${symbol}`]),
    ...(warnings.length === 0 ? [] : [`Warnings: ${warnings.join(" ")}`]),
    ...(decision === undefined
      ? []
      : [
          decision.approved
            ? "The gates would approve the order."
            : `The gates would deny it: ${decision.code}. ${decision.reason}`,
        ]),
  ];
  return {
    data: test,
    text: lines.map(clean).join("\n"),
    exit: isAccepted && !isDenied ? exitCodes.ok : exitCodes.refused,
  };
}

// `ctl riskengine reconcile`: our positions beside the broker's, now. A broker that does not answer is reported as that, never as flat.
import { type ExitCode, exitCodes } from "../../../contracts/src/codes/shape.ts";
import type { AnswerOf } from "../../client/src/types.ts";
import { differenceColumns } from "../text/difference-text.ts";
import { listing, listOptions } from "../text/listing.ts";
import { clean } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const riskengineReconcile: Verb = {
  name: "riskengine reconcile",
  heading: "Books",
  sentence: "Compare our positions with the broker's, and show where they differ.",
  about:
    "With --force the broker is asked now, as the reconciler does by itself every two minutes; otherwise what it last found open is shown. A first look suspects, a second one confirms or clears. Exit 10 when there is a difference, 9 when an account gave no complete answer.",
  arguments: [],
  options: [
    { name: "fund-id", value: "FUND", sentence: "Only this fund; every fund otherwise." },
    { name: "force", sentence: "Ask the broker now." },
    ...listOptions,
  ],
  examples: [
    { command: "ctl riskengine reconcile --fund-id alpha --force", sentence: "Ask the broker now." },
    { command: "ctl riskengine reconcile --json", sentence: "What is open, for a script." },
  ],
  operation: "Reconcile",
  // It looks and records what it sees, as the reconciler does whether or not anybody asks.
  changesState: false,
  run,
};

type Reconciliation = AnswerOf<"reconcile">;

async function run(context: Context): Promise<Answer> {
  const fundId = context.option("fund-id");
  const fund = fundId === undefined ? {} : { fundId };
  const client = await context.client();
  const columns = differenceColumns;
  if (!context.switched("force")) {
    const rows = await client.listDifferences({ ...fund, open: true, countMax: 1_000 });
    const none = "No difference is open. With --force the broker is asked now.";
    const exit = rows.length === 0 ? exitCodes.ok : exitCodes.verificationFailed;
    return { ...(await listing(context, { columns, rows, none })), exit };
  }
  const found = await client.reconcile(fund);
  const list = await listing(context, {
    columns,
    rows: found.differences,
    none: noneOf(found),
    data: found,
    lead: leadOf(found),
  });
  return { ...list, exit: exitOf(found) };
}

function leadOf({ compared, unanswered, symbols }: Reconciliation): string {
  const lines = [
    `Compared: ${compared.length === 0 ? "no account" : compared.join(", ")}, ${symbols} symbols.`,
    ...unanswered.map((why) => `Not compared: ${why}`),
  ];
  return lines.map(clean).join("\n");
}

function noneOf({ compared }: Reconciliation): string {
  return compared.length === 0 ? "Nothing was compared, so nothing is known." : "What was compared agrees.";
}

function exitOf({ compared, unanswered, differences }: Reconciliation): ExitCode {
  const isOpen = differences.some(({ status }) => status === "SUSPECTED" || status === "CONFIRMED");
  if (isOpen) return exitCodes.verificationFailed;
  return unanswered.length > 0 || compared.length === 0 ? exitCodes.unavailable : exitCodes.ok;
}

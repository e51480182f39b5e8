// `ctl cmd flatten-paper`: closes every position of the paper funds, and shows each until it is closed.
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import { confirmed, confirmOption } from "../confirm.ts";
import { dryRun, dryRunOption, hitLines } from "../danger.ts";
import { reasonOf, reasonOption } from "../reason.ts";
import { type Flatten, flattenColumns, flattenLead, flattenRows, owed, unflatFunds } from "../text/flatten-text.ts";
import { isForPeople, listing, outcomeOptions } from "../text/listing.ts";
import { countOf } from "../text/numbers.ts";
import { clean } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

const lookEveryMs = 500;

export const cmdFlattenPaper: Verb = {
  name: "cmd flatten-paper",
  heading: "Halts",
  sentence: "Close every position of the paper funds, and show what became of each.",
  about:
    "Open orders of those funds that are no exits are cancelled first. Each position is closed by a reduce_only order through all gates; live funds are never touched. What a closed market or a silent broker does not allow yet is tried until it is done, also after this command has ended (exit 8). It is done when the broker says that nothing is left: when every line is closed and the broker has something left, that is exit 10, and the next step is named. Strategies that are not halted may trade again at once: halt first if that is not wanted.",
  arguments: [],
  options: [
    { name: "fund-id", value: "FUND", sentence: "Only this paper fund." },
    { name: "wait", value: "SECONDS", sentence: "How long to wait for the broker.", standard: "60" },
    dryRunOption,
    confirmOption("FLATTEN"),
    reasonOption,
    ...outcomeOptions,
  ],
  examples: [
    { command: "ctl cmd flatten-paper", sentence: "Every paper fund." },
    {
      command: "ctl cmd flatten-paper --fund-id beta --confirm FLATTEN --reason drill",
      sentence: "One, from a script.",
    },
  ],
  operation: "FlattenPaper",
  changesState: true,
  run,
};

async function run(context: Context): Promise<Answer> {
  const waitS = countOf("wait", context.option("wait") ?? "");
  const fundId = context.option("fund-id");
  const whose = fundId === undefined ? "EVERY PAPER FUND" : fundId;
  const scopeHit = { paperOnly: true, ...(fundId !== undefined && { id: fundId }) } as const;
  const flattens = `the open orders of ${whose} and sells or buys back every position at the market.`;
  if (context.switched("dry-run")) {
    const would = [clean(`This would cancel ${flattens}`)];
    return dryRun(context, { would, scope: scopeHit, rows: ["order", "position"] });
  }
  const confirmation = await confirmed(context, "FLATTEN", async () => [
    `This cancels ${flattens}`,
    ...(await hitLines(context, scopeHit)),
  ]);
  const client = await context.client();
  const scope = fundId === undefined ? {} : { fundId };
  let flatten: Flatten = await client.flattenPaper({ ...scope, confirmation, ...reasonOf(context) });
  const until = context.clock.now() + waitS * 1_000_000;
  let said = -1;
  while (flatten.done_at === undefined && context.clock.now() < until && !context.signal.aborted) {
    const left = owed(flatten);
    if (left !== said && !context.json) context.terminal.say(waitsFor(flatten));
    said = left;
    await context.timers.sleep(lookEveryMs, context.signal);
    flatten = await client.getFlatten({ flattenId: flatten.flatten_id });
  }
  const isDone = flatten.done_at !== undefined;
  const unflat = unflatFunds(flatten);
  const lead = flattenLead(flatten);
  // A table has it above; CSV is nothing but rows.
  if (!isDone && !context.json && !isForPeople(context)) context.terminal.say(lead);
  const list = await listing(context, {
    columns: flattenColumns,
    rows: flattenRows(flatten),
    none: "There was no position to close and no order to cancel.",
    data: flatten,
    lead,
    wholeIds: true,
  });
  if (isDone) return list;
  if (unflat.length === 0)
    return { ...list, exit: exitCodes.pending, next: [`ctl operations flatten show ${clean(flatten.flatten_id)}`] };
  return { ...list, exit: exitCodes.verificationFailed, next: unflat.map(({ next_step }) => clean(next_step ?? "")) };
}

function waitsFor(flatten: Flatten): string {
  const left = owed(flatten);
  return left > 0
    ? `${left} of ${flattenRows(flatten).length} are not done yet.`
    : "Waits for the broker to say what is left.";
}

// `ctl cmd flatten-paper`: closes every position of the paper funds, and shows each until it is closed.
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import type { AnswerOf } from "../../client/src/types.ts";
import { confirmed, confirmOption } from "../confirm.ts";
import { reasonOf, reasonOption } from "../reason.ts";
import { type Column, isForPeople, listing, outcomeOptions } from "../text/listing.ts";
import { countOf } from "../text/numbers.ts";
import { clean } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

const lookEveryMs = 500;

type Flatten = AnswerOf<"getFlatten">;
type Line = Flatten["lines"][number];
type Order = Flatten["orders"][number];
type Fund = Flatten["funds"][number];

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
  const confirmation = await confirmed(context, "FLATTEN", [
    `This cancels the open orders of ${whose} and sells or buys back every position at the market.`,
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
  const [closed, gone] = [flatten.lines.length - owedLines(flatten), flatten.orders.length - owedOrders(flatten)];
  const positions = `${closed} of ${flatten.lines.length} positions closed`;
  const orders = `${gone} of ${flatten.orders.length} orders gone`;
  const isDone = flatten.done_at !== undefined;
  const unflat = flatten.funds.filter(({ state }) => state === "NOT_FLAT");
  const reported = `${positions}, ${orders}.${isDone ? "" : ` ${unflat.length > 0 ? unflatWords(unflat) : goesOn}`}`;
  const lead = `${reported} Flatten ${clean(flatten.flatten_id)}, audit ${clean(flatten.audit_id ?? "")}.`;
  // A table has it above; CSV is nothing but rows.
  if (!isDone && !context.json && !isForPeople(context)) context.terminal.say(lead);
  const list = await listing(context, {
    columns,
    rows: rowsOf(flatten),
    none: "There was no position to close and no order to cancel.",
    data: flatten,
    lead,
    wholeIds: true,
  });
  if (isDone) return list;
  if (unflat.length === 0) return { ...list, exit: exitCodes.pending, next: nextOf(fundId) };
  return { ...list, exit: exitCodes.verificationFailed, next: unflat.map(({ next_step }) => clean(next_step ?? "")) };
}

function waitsFor(flatten: Flatten): string {
  const left = owed(flatten);
  return left > 0
    ? `${left} of ${rowsOf(flatten).length} are not done yet.`
    : "Waits for the broker to say what is left.";
}

function unflatWords(unflat: readonly Fund[]): string {
  const each = unflat.map(({ fund_id, left, open_orders }) => {
    const names = left.map(({ symbol, quantity }) => `${clean(quantity)} ${clean(symbol)}`);
    return `${clean(fund_id)} (${[...names, ...(open_orders > 0 ? [`${open_orders} open orders`] : [])].join(", ")})`;
  });
  return `NOT DONE: the broker does not call it flat: ${each.join(", ")}.`;
}

/** No verb shows a flatten by its name; what it has yet to close and to cancel is seen where positions and orders are. */
function nextOf(fundId: string | undefined): readonly string[] {
  if (fundId === undefined) return ["ctl ls", "ctl oms orders list --open"];
  const ofFund = `--fund-id ${clean(fundId)}`;
  return [`ctl oms positions list ${ofFund}`, `ctl oms orders list --open ${ofFund}`];
}

const goesOn = "What is left is tried until it is done, also now that this command ends.";
const ended: ReadonlySet<Order["state"]> = new Set(["FILLED", "CANCELLED", "EXPIRED", "REJECTED"]);

function owedLines({ lines }: Flatten): number {
  return lines.filter(({ state }) => state === "OWED" || state === "EXITING").length;
}

function owedOrders({ orders }: Flatten): number {
  return orders.filter(({ state }) => !ended.has(state)).length;
}

function owed(flatten: Flatten): number {
  return owedLines(flatten) + owedOrders(flatten);
}

interface Row {
  readonly what: "position" | "order";
  readonly of: Line | Order;
  readonly attempts: number | undefined;
}

function rowsOf({ lines, orders }: Flatten): readonly Row[] {
  return [
    ...orders.map((of): Row => ({ what: "order", of, attempts: undefined })),
    ...lines.map((of): Row => ({ what: "position", of, attempts: of.attempts })),
  ];
}

const columns: readonly Column<Row>[] = [
  { name: "what", key: true, of: ({ what }) => what },
  { name: "fund_id", of: ({ of }) => of.fund_id },
  { name: "strategy_id", of: ({ of }) => of.strategy_id },
  { name: "symbol", of: ({ of }) => of.symbol },
  { name: "quantity", of: ({ of }) => of.quantity, number: true },
  { name: "state", always: true, of: ({ of }) => of.state },
  { name: "attempts", of: ({ attempts }) => attempts, number: true },
  { name: "at", of: ({ of }) => of.at, time: true },
  { name: "order_id", id: true, of: ({ of }) => of.order_id },
  { name: "complaint", text: true, of: ({ of }) => of.complaint },
];

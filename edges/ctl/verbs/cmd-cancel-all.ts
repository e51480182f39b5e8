// `ctl cmd cancel-all`: wants every open order gone, and shows each until the broker has confirmed it.
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import { confirmed, confirmOption } from "../confirm.ts";
import { dryRun, dryRunOption, hitLines } from "../danger.ts";
import { usageRefusal } from "../failure.ts";
import { fundModes } from "../fund-modes.ts";
import { reasonOf, reasonOption } from "../reason.ts";
import { isForPeople, listing, outcomeOptions } from "../text/listing.ts";
import { countOf } from "../text/numbers.ts";
import { type OrderStatus, orderColumns } from "../text/order-text.ts";
import { clean } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

const lookEveryMs = 500;
const waitSecondsDefault = 30;

export const cmdCancelAll: Verb = {
  name: "cmd cancel-all",
  heading: "Halts",
  sentence: "Cancel every open order, and show what became of each.",
  about:
    "An order that a closed market or a silent broker does not let go yet is asked for until it is gone, also after this command has ended (exit 8). What has filled stays filled.",
  arguments: [],
  options: [
    { name: "fund-id", value: "FUND", sentence: "Only this fund's orders." },
    {
      name: "wait",
      value: "SECONDS",
      sentence: "How long to wait for the broker.",
      standard: String(waitSecondsDefault),
    },
    dryRunOption,
    confirmOption("CANCEL"),
    reasonOption,
    ...outcomeOptions,
  ],
  examples: [
    { command: "ctl cmd cancel-all", sentence: "Every fund's." },
    { command: "ctl cmd cancel-all --fund-id alpha --confirm CANCEL", sentence: "One fund's, from a script." },
  ],
  operation: "CancelAll",
  changesState: true,
  run,
};

const goesOn = "What is left is asked for until it is gone, also now that this command ends.";
const ended: ReadonlySet<OrderStatus["state"]> = new Set(["FILLED", "CANCELLED", "EXPIRED", "REJECTED"]);

async function run(context: Context): Promise<Answer> {
  const waitS = countOf("wait", context.option("wait") ?? "");
  if (waitS > 3_600) throw usageRefusal("--wait is at most 3600 seconds.");
  const fundId = context.option("fund-id");
  const whose = fundId === undefined ? "EVERY FUND" : fundId;
  const scopeHit = fundId === undefined ? {} : { id: fundId };
  const cancels = `every open order of ${whose}. Positions stay.`;
  if (context.switched("dry-run")) {
    return dryRun(context, { would: [clean(`This would cancel ${cancels}`)], scope: scopeHit, rows: ["order"] });
  }
  const confirmation = await confirmed(context, "CANCEL", async () => [
    `This cancels ${cancels}`,
    ...(await hitLines(context, scopeHit)),
  ]);
  const client = await context.client();
  const scope = fundId === undefined ? {} : { fundId };
  const asked = await client.cancelAllOrders({ ...scope, confirmation, ...reasonOf(context) });
  const { audit_id: auditId } = asked;
  let { orders } = asked;
  const until = context.clock.now() + waitS * 1_000_000;
  let said = -1;
  for (;;) {
    const left = orders.filter(({ state }) => !ended.has(state)).length;
    if (left === 0 || context.clock.now() >= until || context.signal.aborted) break;
    if (left !== said && !context.json) context.terminal.say(`${left} of ${orders.length} are not cancelled yet.`);
    said = left;
    await context.timers.sleep(lookEveryMs, context.signal);
    orders = await Promise.all(
      orders.map(async (one) => (ended.has(one.state) ? one : client.getOrder({ orderId: one.order.order_id }))),
    );
  }
  const open = orders.filter(({ state }) => !ended.has(state));
  const columns = [
    ...orderColumns(await fundModes(client, context)),
    { name: "audit_id", of: () => auditId, onlyCsv: true as const },
  ];
  const isDone = open.length === 0;
  const tally = `${orders.length - open.length} ended, ${open.length} not yet.${isDone ? "" : ` ${goesOn}`}`;
  const lead = `${tally}${auditId === undefined ? "" : ` Audit ${clean(auditId)}.`}`;
  // A table has it above; CSV is nothing but rows, and has none when there was no order.
  const isLeadUnsaid = !isDone || orders.length === 0;
  if (isLeadUnsaid && !context.json && !isForPeople(context)) context.terminal.say(lead);
  const data = { ...asked, orders };
  const list = await listing(context, {
    columns,
    rows: orders,
    none: "There was no open order.",
    data,
    lead,
    wholeIds: true,
  });
  const ofFund = fundId === undefined ? "" : ` --fund-id ${clean(fundId)}`;
  return isDone ? list : { ...list, exit: exitCodes.pending, next: [`ctl oms orders list --open${ofFund}`] };
}

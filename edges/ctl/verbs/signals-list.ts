// `ctl signals list`: what came in at the charting webhook, and what became of it.
import type { AnswerOf, Client } from "../../client/src/types.ts";
import { usageRefusal } from "../failure.ts";
import { followPages, limitOption } from "../follow-pages.ts";
import { type Column, listing, listOptions } from "../text/listing.ts";
import { countOf, hoursOf } from "../text/numbers.ts";
import type { Answer, Context, Verb } from "./verb.ts";

const statuses = ["REFUSED", "ACCEPTED", "SUBMITTED", "FAILED"] as const;

export const signalsList: Verb = {
  name: "signals list",
  heading: "Signals",
  sentence: "List the alerts that came in, newest first.",
  about:
    "REFUSED became no order and says why; ACCEPTED is stored and not handed in yet; SUBMITTED is an order; FAILED was accepted and became none.",
  arguments: [],
  options: [
    { name: "fund-id", value: "FUND", sentence: "Only this fund's; every fund's otherwise." },
    { name: "strategy-id", value: "STRATEGY", sentence: "Only this strategy's." },
    { name: "status", value: "STATUS", sentence: `Only those with this status: ${statuses.join(", ")}.` },
    { name: "hours", value: "N", standard: "24", sentence: "How far back, in hours." },
    limitOption,
    ...listOptions,
  ],
  examples: [
    { command: "ctl signals list --fund-id alpha --hours 1", sentence: "The last hour's of a fund." },
    { command: "ctl signals list --status REFUSED --format csv", sentence: "What was refused in the last day." },
  ],
  operation: "ListWebhookSignals",
  changesState: false,
  run,
};

type Signal = AnswerOf<"listWebhookSignals">[number];
type Asked = NonNullable<Parameters<Client["listWebhookSignals"]>[0]>;

const columns: readonly Column<Signal>[] = [
  { name: "received_at", head: "received", key: true, of: (one) => one.received_at, time: true },
  { name: "signal_id", id: true, of: (one) => one.signal_id },
  { name: "status", always: true, of: (one) => one.status },
  { name: "http_status", head: "http", minor: 2, number: true, of: (one) => one.http_status },
  { name: "code", key: true, of: (one) => one.code ?? one.decision_code },
  { name: "fund_id", of: (one) => one.fund_id },
  { name: "strategy_id", minor: 3, of: (one) => one.strategy_id },
  { name: "symbol", of: (one) => one.symbol ?? one.symbol_sent },
  { name: "side", of: (one) => one.side },
  { name: "quantity", of: (one) => one.quantity, number: true },
  { name: "order_state", head: "order", of: (one) => one.order_state },
  { name: "detail", text: true, of: (one) => one.detail },
  { name: "warnings", of: (one) => one.warnings.join(" "), onlyCsv: true },
  { name: "order_id", of: (one) => one.order_id, onlyCsv: true },
  { name: "symbol_sent", of: (one) => one.symbol_sent, onlyCsv: true },
  { name: "alert_at", of: (one) => one.alert_at, onlyCsv: true },
  { name: "answer_ms", of: (one) => one.answer_ms, onlyCsv: true },
  { name: "remote_address", of: (one) => one.remote_address, onlyCsv: true },
  { name: "idempotency_key", of: (one) => one.idempotency_key, onlyCsv: true },
  { name: "duplicate_of", of: (one) => one.duplicate_of, onlyCsv: true },
  { name: "decision_code", of: (one) => one.decision_code, onlyCsv: true },
];

async function run(context: Context): Promise<Answer> {
  const hours = hoursOf("hours", context.option("hours") ?? "");
  const limit = countOf("limit", context.option("limit") ?? "", 1);
  const [fundId, strategyId] = [context.option("fund-id"), context.option("strategy-id")];
  const asked: Asked = {
    hours,
    ...(fundId === undefined ? {} : { fundId }),
    ...(strategyId === undefined ? {} : { strategyId }),
    ...statusOf(context.option("status")),
  };
  const client = await context.client();
  const { rows, more } = await followPages(
    limit,
    (one: Signal) => one.signal_id,
    (page) => client.listWebhookSignals({ ...asked, ...page }),
  );
  if (more) context.terminal.say(`There are more than ${limit}; --limit raises it.`);
  return listing(context, { columns, rows, none: `No such alert came in during the last ${hours} h.` });
}

function statusOf(given: string | undefined): Pick<Asked, "status"> {
  if (given === undefined) return {};
  const status = statuses.find((one) => one === given.toUpperCase());
  if (status === undefined) throw usageRefusal(`--status is one of ${statuses.join(", ")}.`);
  return { status };
}

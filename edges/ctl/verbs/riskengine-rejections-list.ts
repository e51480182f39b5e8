// `ctl riskengine rejections list`: which orders were denied, by which gate, and why.
import type { AnswerOf, Client } from "../../client/src/types.ts";
import { type Column, isForPeople, listing, listOptions } from "../text/listing.ts";
import { countOf, hoursOf } from "../text/numbers.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const riskengineRejectionsList: Verb = {
  name: "riskengine rejections list",
  heading: "Decisions",
  sentence: "List denied orders, newest first.",
  arguments: [],
  options: [
    { name: "fund-id", value: "FUND", sentence: "Only this fund's; every fund's otherwise." },
    { name: "hours", value: "N", standard: "24", sentence: "How far back, in hours." },
    { name: "limit", value: "N", standard: "1000", sentence: "At most this many." },
    ...listOptions,
  ],
  examples: [
    { command: "ctl riskengine rejections list --fund-id alpha --hours 24", sentence: "The last day's." },
    {
      command: "ctl riskengine rejections list --hours 0.5 --format csv",
      sentence: "The last half hour of all funds.",
    },
  ],
  operation: "ListRejections",
  changesState: false,
  run,
};

type Rejection = AnswerOf<"listRejections">[number];

async function run(context: Context): Promise<Answer> {
  const fundId = context.option("fund-id");
  const hours = hoursOf("hours", context.option("hours") ?? "");
  const limit = countOf("limit", context.option("limit") ?? "", 1);
  const columns: readonly Column<Rejection>[] = [
    { name: "decided_at", head: "decided", of: (one) => one.decided_at, time: true },
    { name: "order_id", id: true, of: (one) => one.order_id },
    { name: "fund_id", of: (one) => one.fund_id },
    { name: "strategy_id", minor: 3, of: (one) => one.strategy_id },
    { name: "symbol", of: (one) => one.symbol },
    { name: "side", of: (one) => one.side },
    { name: "quantity", of: (one) => one.quantity, number: true },
    { name: "source", minor: 4, of: (one) => one.source },
    { name: "gate", minor: 3, of: (one) => one.gate },
    { name: "code", key: true, of: (one) => one.code },
    { name: "reason", text: true, of: (one) => one.reason },
    { name: "classification", of: (one) => one.classification, onlyCsv: true },
    { name: "closing_quantity_allowed", of: (one) => one.closing_quantity_allowed, onlyCsv: true },
    { name: "envelope_version", of: (one) => one.envelope_version, onlyCsv: true },
    { name: "halt_epoch", of: (one) => one.halt_epoch, onlyCsv: true },
    { name: "actor", of: (one) => one.actor, onlyCsv: true },
    { name: "idempotency_key", of: (one) => one.idempotency_key, onlyCsv: true },
    { name: "decision_id", of: (one) => one.decision_id, onlyCsv: true },
  ];
  const { rows, more } = await pages(await context.client(), { fundId, hours }, limit);
  if (more) context.terminal.say(`There are more than ${limit}; --limit raises it.`);
  const next = isForPeople(context) ? nextStep(rows[0]) : [];
  const where = fundId === undefined ? "" : ` in ${fundId}`;
  return listing(context, { columns, rows, none: `No order was denied${where} in the last ${hours} h.`, next });
}

/** Order management keeps the reason of what it refused by itself; the risk engine has decided nothing there. */
function nextStep(newest: Rejection | undefined): readonly string[] {
  // Only an id that a shell takes as it stands is offered to be pasted.
  if (newest === undefined || !/^[\w.:@/-]+$/.test(newest.order_id)) return [];
  return [newest.source === "oms" ? `ctl oms orders show ${newest.order_id}` : `ctl why ${newest.order_id}`];
}

const pageSize = 500;

async function pages(
  client: Client,
  { fundId, hours }: { readonly fundId: string | undefined; readonly hours: number },
  limit: number,
): Promise<{ readonly rows: readonly Rejection[]; readonly more: boolean }> {
  const rows: Rejection[] = [];
  // One more than was asked for tells whether there are more.
  for (;;) {
    const countMax = Math.min(pageSize, limit + 1 - rows.length);
    const after = rows.at(-1)?.decision_id;
    const page = await client.listRejections({
      hours,
      countMax,
      ...(fundId === undefined ? {} : { fundId }),
      ...(after === undefined ? {} : { after }),
    });
    rows.push(...page);
    if (rows.length > limit) return { rows: rows.slice(0, limit), more: true };
    if (page.length < countMax) return { rows, more: false };
  }
}

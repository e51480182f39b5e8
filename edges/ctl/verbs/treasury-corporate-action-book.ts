// `ctl treasury corporate-action book`: a cash dividend, to whoever held the share before its ex-date.
import { tryParse } from "../../../contracts/src/decimal.ts";
import type { Context } from "../context.ts";
import { usageRefusal } from "../failure.ts";
import { needsReason, reasonOption } from "../reason.ts";
import { clean } from "../text.ts";
import type { Answer, Verb } from "./verb.ts";

export const treasuryCorporateActionBook: Verb = {
  name: "treasury corporate-action book",
  heading: "Funds",
  sentence: "Book a cash dividend to the paper funds that held the share.",
  about:
    "Who was long at the end of the day before --ex-date receives it, who was short pays it. It is profit or loss, not a flow. The same --action-id twice is one action. It is refused without a reason.",
  arguments: [],
  options: [
    { name: "kind", value: "KIND", required: true, sentence: "CASH_DIVIDEND." },
    { name: "symbol", value: "SYMBOL", required: true, sentence: "The share." },
    { name: "amount-per-share", value: "AMOUNT", required: true, sentence: "In the share's currency." },
    { name: "ex-date", value: "DATE", required: true, sentence: "The first day on which a buyer does not get it." },
    { name: "action-id", value: "ID", required: true, sentence: "By which a repetition is known." },
    reasonOption,
  ],
  examples: [
    {
      command:
        "ctl treasury corporate-action book --kind CASH_DIVIDEND --symbol AAPL --amount-per-share 0.26 --ex-date 2026-11-16 --action-id aapl-2026-q4 --reason dividend",
      sentence: "26 cents a share.",
    },
  ],
  operation: "BookCorporateAction",
  changesState: true,
  run,
};

async function run(context: Context): Promise<Answer> {
  const kind = context.option("kind") ?? "";
  if (kind !== "CASH_DIVIDEND") throw usageRefusal(`--kind is CASH_DIVIDEND; "${kind}" is not.`);
  const amountPerShare = context.option("amount-per-share") ?? "";
  if ((tryParse(amountPerShare) ?? 0n) <= 0n) {
    throw usageRefusal(`--amount-per-share is an amount above zero such as 0.26; "${amountPerShare}" is not.`);
  }
  const reason = needsReason(context);
  const symbol = context.option("symbol") ?? "";
  const exDate = context.option("ex-date") ?? "";
  const actionId = context.option("action-id") ?? "";
  const client = await context.client();
  const action = await client.bookCorporateAction({ actionId, kind, symbol, amountPerShare, exDate, reason });
  const lines = action.entries.map((entry) => `${entry.fund_id}: ${entry.reason}`);
  const before = action.already_booked ? "It was booked before, and not again." : "";
  const head = lines.length === 0 ? `Nobody held ${symbol} before ${exDate}; nothing was booked.` : before;
  const text = [head, ...lines].filter((one) => one !== "").map(clean);
  return { data: action, text: text.join("\n") };
}

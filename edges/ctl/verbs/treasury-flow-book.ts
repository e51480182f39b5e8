// `ctl treasury flow book`: money put into a paper fund, or taken out of it. A flow is neither profit nor loss.

import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import { tryParse } from "../../../contracts/src/decimal.ts";
import type { Client } from "../../client/src/types.ts";
import { fundOption } from "../envelope-flags.ts";
import { Refusal, usageRefusal } from "../failure.ts";
import { needsReason, reasonOption } from "../reason.ts";
import { clean, moment } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const treasuryFlowBook: Verb = {
  name: "treasury flow book",
  heading: "Funds",
  sentence: "Put money into a paper fund, or take it out.",
  about:
    "It moves NAV and is neither profit nor loss, so it trips no loss limit. The same --idempotency-key twice is one flow. It is refused without a reason.",
  arguments: [],
  options: [
    fundOption,
    { name: "amount", value: "AMOUNT", required: true, sentence: "How much; with a minus it is taken out." },
    { name: "currency", value: "CURRENCY", sentence: "The fund's own when absent." },
    { name: "idempotency-key", value: "KEY", sentence: "By which a repetition is known; a new one otherwise." },
    reasonOption,
  ],
  examples: [
    { command: "ctl treasury flow book --fund-id alpha --amount 250000 --reason subscription", sentence: "Money in." },
    { command: "ctl treasury flow book --fund-id alpha --amount=-250000 --reason redemption", sentence: "Money out." },
  ],
  operation: "BookFlow",
  changesState: true,
  run,
};

async function run(context: Context): Promise<Answer> {
  const fundId = context.option("fund-id") ?? "";
  const amount = context.option("amount") ?? "";
  if ((tryParse(amount) ?? 0n) === 0n)
    throw usageRefusal(`--amount is an amount such as 250000 or -12.5; "${amount}" is not.`);
  const reason = needsReason(context);
  const client = await context.client();
  const currency = context.option("currency") ?? (await currencyOf(client, fundId));
  const idempotencyKey = context.option("idempotency-key") ?? `ctl-${context.random.uuid()}`;
  const entry = await client.bookFlow({ fundId, amount, currency, idempotencyKey, reason });
  const words = amount.startsWith("-") ? "taken out of" : "put into";
  const before = entry.already_booked === true;
  const when = before ? ` already ${moment(entry.at, context.clock.now())}, and not again` : "";
  const moved = `${amount.replace(/^-/, "")} ${currency} were ${words} ${fundId}${when}: entry ${entry.entry_id}.`;
  return { data: entry, text: clean(moved), next: [`ctl treasury ledger list --fund-id ${fundId} --limit 1`] };
}

async function currencyOf(client: Client, fundId: string): Promise<string> {
  const fund = (await client.listFunds()).find((one) => one.fund_id === fundId);
  if (fund !== undefined) return fund.currency;
  const hint = "`ctl treasury funds list` shows the funds there are.";
  throw new Refusal(exitCodes.failed, "NOT_FOUND", `There is no fund ${JSON.stringify(fundId)}.`, hint);
}

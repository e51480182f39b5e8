// `ctl treasury flow book`: money put into a paper fund, or taken out of it. A flow is neither profit nor loss.

import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import { tryParse } from "../../../contracts/src/decimal.ts";
import type { Client } from "../../client/src/types.ts";
import { fundOption } from "../envelope-flags.ts";
import { isApiError, Refusal, usageRefusal } from "../failure.ts";
import { factorOptions, stepUpProof } from "../login/one-time-code.ts";
import { needsReason, reasonOption } from "../reason.ts";
import { clean, moment } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const treasuryFlowBook: Verb = {
  name: "treasury flow book",
  heading: "Funds",
  sentence: "Put money into a paper fund, or take it out.",
  about:
    "It moves NAV and is neither profit nor loss, so it trips no loss limit. The same --idempotency-key twice is one flow. Limits that are shares of the fund move with it, so it asks for your second factor (exit 5 without) and is refused without a reason.",
  arguments: [],
  options: [
    fundOption,
    { name: "amount", value: "AMOUNT", required: true, sentence: "How much; with a minus it is taken out." },
    { name: "currency", value: "CURRENCY", sentence: "The fund's own when absent." },
    { name: "idempotency-key", value: "KEY", sentence: "By which a repetition is known; a new one otherwise." },
    reasonOption,
    ...factorOptions,
  ],
  examples: [
    {
      command: "ctl treasury flow book --fund-id alpha --amount 250000 --reason subscription --totp 123456",
      sentence: "Money in.",
    },
    {
      command: "ctl treasury flow book --fund-id alpha --amount=-250000 --reason redemption --totp 123456",
      sentence: "Money out.",
    },
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
  const flow = { fundId, amount, currency, idempotencyKey, reason };
  const parameters = { fund_id: fundId, idempotency_key: idempotencyKey, currency, amount, reason };
  const entry = await booked(context, client, flow, parameters);
  const words = amount.startsWith("-") ? "taken out of" : "put into";
  const before = entry.already_booked === true;
  const when = before ? ` already ${moment(entry.at, context.clock.now())}, and not again` : "";
  const moved = `${amount.replace(/^-/, "")} ${currency} were ${words} ${fundId}${when}: entry ${entry.entry_id}.`;
  return { data: entry, text: clean(moved), next: [`ctl treasury ledger list --fund-id ${fundId} --limit 1`] };
}

type Flow = Parameters<Client["bookFlow"]>[0];

/** The server says whether a code is needed: one that was booked before needs none. */
async function booked(context: Context, client: Client, flow: Flow, parameters: Readonly<Record<string, string>>) {
  try {
    return await client.bookFlow(flow);
  } catch (thrown) {
    if (!isApiError(thrown) || thrown.code !== "STEP_UP_REQUIRED") throw thrown;
    const isGiven = context.option("totp") !== undefined || context.option("recovery-code") !== undefined;
    if (!isGiven && !context.terminal.interactive) throw thrown;
    const proof = await stepUpProof(context, client, { action: "BookFlow", parameters });
    return client.bookFlow({ ...flow, stepUpProof: proof });
  }
}

async function currencyOf(client: Client, fundId: string): Promise<string> {
  const fund = (await client.listFunds()).find((one) => one.fund_id === fundId);
  if (fund !== undefined) return fund.currency;
  const hint = "`ctl treasury funds list` shows the funds there are.";
  throw new Refusal(exitCodes.failed, "NOT_FOUND", `There is no fund ${JSON.stringify(fundId)}.`, hint);
}

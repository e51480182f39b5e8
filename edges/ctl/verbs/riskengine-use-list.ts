// `ctl riskengine use list`: how much of every limit is used, the most used first.

import type { AnswerOf } from "../../client/src/types.ts";
import { price } from "../../words/money.ts";
import { type Column, listing, listOptions } from "../text/listing.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const riskengineUseList: Verb = {
  name: "riskengine use list",
  group: { heading: "Limits", sentence: "How much of the limits is used." },
  heading: "Limits",
  sentence: "See how much of every limit is used, the most used first.",
  about:
    "In the worst case, open orders on both sides counted: the figures of `ctl riskengine headroom` and `ctl riskengine losses list`. The band is the highest of 0, 50, 75, 85, 90, 95 and 100 per cent that was reached. What cannot be counted has a reason and stands first: nothing new is let through by it. While a fill, a price or a value is not vouched for, `used` and `allowed` are the worse end; the least that may be used and the most that may be allowed stand beside them, with the cause.",
  arguments: [],
  options: [{ name: "fund-id", value: "FUND", sentence: "Only this fund." }, ...listOptions],
  examples: [
    { command: "ctl riskengine use list", sentence: "Of all funds." },
    { command: "ctl riskengine use list --fund-id alpha", sentence: "One fund." },
  ],
  operation: "GetLimitUse",
  changesState: false,
  run,
};

type Use = AnswerOf<"getLimitUse">[number];

async function run(context: Context): Promise<Answer> {
  const fundId = context.option("fund-id");
  const rows = await (await context.client()).getLimitUse(fundId === undefined ? {} : { fundId });
  const money = (amount: string | undefined): string => (amount === undefined ? "" : price(amount));
  const columns: readonly Column<Use>[] = [
    { name: "fund_id", key: true, of: (one) => one.fund_id },
    { name: "limit", key: true, of: (one) => one.limit, shown: limitText },
    { name: "scope", of: (one) => one.scope },
    { name: "used", of: (one) => one.used, shown: (one) => money(one.used), number: true },
    { name: "allowed", of: (one) => one.allowed, shown: (one) => money(one.allowed), number: true },
    { name: "used_least", of: (one) => one.used_least, shown: (one) => money(one.used_least), number: true },
    { name: "allowed_most", of: (one) => one.allowed_most, shown: (one) => money(one.allowed_most), number: true },
    {
      name: "share",
      always: true,
      of: (one) => one.share,
      shown: (one) => (one.share === undefined ? "" : `${(one.share * 100).toFixed(2)} %`),
      number: true,
    },
    { name: "band", minor: 2, of: (one) => one.band, number: true },
    { name: "as_of", minor: 3, of: (one) => one.as_of, time: true },
    { name: "reason", text: true, of: (one) => one.reason },
    { name: "cause", text: true, of: (one) => one.cause },
  ];
  return listing(context, { columns, rows, none: "No fund has limits yet." });
}

/** The scope has a column of its own. */
function limitText({ limit, scope }: Use): string {
  return scope !== "" && limit.endsWith(`.${scope}`) ? limit.slice(0, -scope.length - 1) : limit;
}

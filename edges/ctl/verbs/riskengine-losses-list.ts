// `ctl riskengine losses list`: what each fund has lost since its baselines, beside the limits that would halt it.

import type { AnswerOf } from "../../client/src/types.ts";
import { price } from "../../words/money.ts";
import { type Column, listing, listOptions } from "../text/listing.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const riskengineLossesList: Verb = {
  name: "riskengine losses list",
  heading: "Halts",
  sentence: "See losses against their baselines and limits.",
  about:
    "A loss equal to its limit halts the fund, or the strategy. BREACHED: the halt that it raised is in force. RESUMED: that was lifted with the baseline kept; it halts again at the value shown. PENDING waits for its confirmation, NOT_JUDGED says why: until then the fund takes no new risk.",
  arguments: [],
  options: [{ name: "fund-id", value: "FUND", sentence: "Only this fund." }, ...listOptions],
  examples: [{ command: "ctl riskengine losses list --fund-id alpha", sentence: "One fund." }],
  operation: "ListLosses",
  changesState: false,
  run,
};

type Loss = AnswerOf<"listLosses">[number];

async function run(context: Context): Promise<Answer> {
  const fundId = context.option("fund-id");
  const rows = await (await context.client()).listLosses(fundId === undefined ? {} : { fundId });
  const share = (pct: number | undefined): string => (pct === undefined ? "off" : `${(pct * 100).toFixed(2)} %`);
  const money = (amount: string | undefined): string => (amount === undefined ? "" : price(amount));
  const columns: readonly Column<Loss>[] = [
    { name: "fund_id", key: true, of: (one) => one.fund_id },
    { name: "strategy_id", of: (one) => one.strategy_id },
    { name: "limit", key: true, of: (one) => one.limit },
    { name: "period", minor: 5, of: (one) => one.period },
    { name: "baseline", minor: 3, of: (one) => one.baseline, shown: (one) => money(one.baseline), number: true },
    { name: "value", minor: 2, of: (one) => one.value, shown: (one) => money(one.value), number: true },
    { name: "loss", minor: 2, of: (one) => one.loss, shown: (one) => money(one.loss), number: true },
    {
      name: "loss_pct",
      of: (one) => one.loss_pct,
      shown: (one) => (one.loss_pct === undefined ? "" : share(one.loss_pct)),
      number: true,
    },
    {
      name: "limit_pct",
      of: (one) => one.limit_pct,
      shown: (one) => (one.baseline === undefined ? "" : share(one.limit_pct)),
      number: true,
    },
    {
      name: "used",
      onlyTable: true,
      always: true,
      of: (one) => one.loss_pct,
      shown: (one) => usedText(one),
      number: true,
    },
    {
      name: "state",
      always: true,
      of: (one) => one.state,
      shown: ({ state }) => (state === "JUDGED" ? "WITHIN" : state),
    },
    {
      name: "halts_again_at",
      minor: 1,
      of: (one) => one.halts_again_at,
      shown: (one) => money(one.halts_again_at),
      number: true,
    },
    { name: "as_of", minor: 4, of: (one) => one.as_of, time: true },
    { name: "baseline_at", of: (one) => one.baseline_at, onlyCsv: true },
    { name: "rebased_by", of: (one) => one.rebased_by },
    { name: "reason", text: true, of: (one) => one.reason },
  ];
  return listing(context, { columns, rows, none: "No fund has been valued yet." });
}

/** How much of the limit is lost; a profit uses nothing of it. */
function usedText({ loss_pct: lost, limit_pct: limit }: Loss): string {
  if (lost === undefined || limit === undefined || limit === 0) return "";
  return `${(Math.max(0, lost / limit) * 100).toFixed(1)} %`;
}

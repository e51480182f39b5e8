// `ctl research strategies list`: the strategies, what they may work with and what came of it.

import type { AnswerOf, Client } from "../../client/src/types.ts";
import { money } from "../../words/money.ts";
import { isApiError } from "../failure.ts";
import { percentInTable } from "../text/envelope-text.ts";
import { type Column, isForPeople, listing, listOptions } from "../text/listing.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const researchStrategiesList: Verb = {
  name: "research strategies list",
  heading: "Strategies",
  sentence: "List the strategies, what they may work with and what came of it.",
  about:
    "live trades, shadow only computes what it would do, halted does nothing; what a watchdog shadows only reduces. allocation_pct is the base times the factors of open restrictions. IC is the mean daily rank correlation of signal and later return, in the backtest and live.",
  arguments: [],
  options: [{ name: "fund-id", value: "FUND", sentence: "Only this fund's; every fund's otherwise." }, ...listOptions],
  examples: [{ command: "ctl research strategies list", sentence: "All of them." }],
  operation: "ListStrategies",
  changesState: false,
  run,
};

type Strategy = AnswerOf<"listStrategies">[number];

async function run(context: Context): Promise<Answer> {
  const fundId = context.option("fund-id");
  const rounded = (value: number | undefined): string => (value === undefined ? "" : value.toFixed(4));
  const client = await context.client();
  const haltedOf = isForPeople(context) ? await haltsOf(client) : () => "";
  const columns: readonly Column<Strategy>[] = [
    { name: "strategy_id", key: true, of: (one) => one.strategy_id },
    { name: "fund_id", of: (one) => one.fund_id },
    {
      name: "status",
      always: true,
      of: (one) => one.status,
      shown: ({ status }) => (status === "live" ? "trading" : status),
    },
    { name: "halted", onlyTable: true, always: true, of: haltedOf },
    {
      name: "allocation_pct",
      head: "allocation",
      of: (one) => one.allocation_pct,
      shown: (one) => percentInTable(one.allocation_pct),
      number: true,
    },
    {
      name: "base_allocation_pct",
      head: "base",
      minor: 2,
      of: (one) => one.base_allocation_pct,
      shown: (one) => percentInTable(one.base_allocation_pct),
      number: true,
    },
    { name: "restriction_ids", head: "restrictions", minor: 1, of: (one) => one.restriction_ids.join(" ") },
    { name: "pnl", of: (one) => one.pnl, shown: (one) => money(one.pnl), number: true },
    {
      name: "last_signal_at",
      head: "last signal",
      of: (one) => one.last_signal_at,
      time: "never",
    },
    {
      name: "backtest_ic_mean",
      head: "backtest ic",
      minor: 3,
      of: (one) => one.backtest_ic_mean,
      shown: (one) => rounded(one.backtest_ic_mean),
      number: true,
    },
    {
      name: "live_ic_mean",
      head: "live ic",
      minor: 3,
      of: (one) => one.live_ic_mean,
      shown: (one) => rounded(one.live_ic_mean),
      number: true,
    },
    { name: "sentence", text: true, minor: 5, of: (one) => one.sentence },
  ];
  const rows = await client.listStrategies(fundId === undefined ? {} : { fundId });
  return listing(context, { columns, rows, none: "There are no strategies." });
}

/** The gravest halt that covers a strategy; "?" while nobody can say. */
async function haltsOf(client: Client): Promise<(strategy: Strategy) => string> {
  const status = await client.getHaltStatus().catch((thrown: unknown) => {
    if (isApiError(thrown)) return undefined;
    throw thrown;
  });
  if (status === undefined || !status.known) return () => "?";
  const { halts } = status;
  return ({ strategy_id, fund_id }) => {
    if (halts.some(({ severity }) => severity === "FIRM_HALT")) return "FIRM_HALT";
    if (halts.some((one) => one.severity === "FUND_HALT" && one.fund_id === fund_id)) return "FUND_HALT";
    return halts.some((one) => one.strategy_id === strategy_id) ? "STRATEGY_HALT" : "no";
  };
}

// `ctl treasury funds list`: the funds, what they are worth and since when that is known, and whether they are halted.

import type { AnswerOf } from "../../client/src/types.ts";
import { money } from "../../words/money.ts";
import { percentInTable } from "../text/envelope-text.ts";
import { type Column, listing, listOptions } from "../text/listing.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const treasuryFundsList: Verb = {
  name: "treasury funds list",
  heading: "Funds",
  sentence: "List the funds, their value and whether they are halted.",
  arguments: [],
  options: [...listOptions],
  examples: [
    { command: "ctl treasury funds list", sentence: "All funds." },
    { command: "ctl treasury funds list --format csv", sentence: "The same for a spreadsheet." },
  ],
  operation: "ListFunds",
  changesState: false,
  run,
};

type Fund = AnswerOf<"listFunds">[number];

async function run(context: Context): Promise<Answer> {
  const share = (fraction: number | undefined): string => (fraction === undefined ? "" : percentInTable(fraction));
  const columns: readonly Column<Fund>[] = [
    { name: "fund_id", key: true, of: (one) => one.fund_id },
    { name: "name", minor: 4, of: (one) => one.name },
    { name: "mode", always: true, of: (one) => one.mode },
    {
      name: "nav",
      of: (one) => one.nav,
      shown: (one) => (one.nav === undefined ? "not valued" : money(one.nav)),
      number: true,
    },
    { name: "currency", minor: 3, of: (one) => one.currency },
    {
      name: "nav_at",
      head: "valued",
      of: (one) => one.nav_at,
      time: true,
    },
    { name: "day_pnl", of: (one) => one.day_pnl, shown: (one) => money(one.day_pnl), number: true },
    {
      name: "gross_exposure_pct",
      head: "gross",
      minor: 1,
      of: (one) => one.gross_exposure_pct,
      shown: (one) => share(one.gross_exposure_pct),
      number: true,
    },
    {
      name: "net_exposure_pct",
      head: "net",
      minor: 1,
      of: (one) => one.net_exposure_pct,
      shown: (one) => share(one.net_exposure_pct),
      number: true,
    },
    {
      name: "halted",
      always: true,
      of: (one) => one.halted,
      shown: (one) => (one.halted ? (one.severity ?? "HALTED") : "no"),
    },
    { name: "severity", of: (one) => one.severity, onlyCsv: true },
  ];
  return listing(context, { columns, rows: await (await context.client()).listFunds(), none: "There are no funds." });
}

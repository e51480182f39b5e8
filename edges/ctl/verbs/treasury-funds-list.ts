// `ctl treasury funds list`: the funds, what they are worth and since when that is known, and whether they are halted.
import type { AnswerOf } from "../../client/src/types.ts";
import { percentInTable } from "../text/envelope-text.ts";
import { type Column, formatOption, listing } from "../text/listing.ts";
import { money } from "../text/money.ts";
import { moment } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const treasuryFundsList: Verb = {
  name: "treasury funds list",
  heading: "Funds",
  sentence: "List the funds, their value and whether they are halted.",
  arguments: [],
  options: [formatOption],
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
  const now = context.clock.now();
  const share = (fraction: number | undefined): string => (fraction === undefined ? "" : percentInTable(fraction));
  const columns: readonly Column<Fund>[] = [
    { name: "fund_id", of: (one) => one.fund_id },
    { name: "name", of: (one) => one.name },
    { name: "mode", of: (one) => one.mode },
    {
      name: "nav",
      of: (one) => one.nav,
      shown: (one) => (one.nav === undefined ? "not valued" : money(one.nav)),
      number: true,
    },
    { name: "currency", of: (one) => one.currency },
    {
      name: "nav_at",
      of: (one) => one.nav_at,
      shown: (one) => (one.nav_at === undefined ? "" : moment(one.nav_at, now)),
    },
    { name: "day_pnl", of: (one) => one.day_pnl, shown: (one) => money(one.day_pnl), number: true },
    {
      name: "gross_exposure_pct",
      of: (one) => one.gross_exposure_pct,
      shown: (one) => share(one.gross_exposure_pct),
      number: true,
    },
    {
      name: "net_exposure_pct",
      of: (one) => one.net_exposure_pct,
      shown: (one) => share(one.net_exposure_pct),
      number: true,
    },
    { name: "halted", of: (one) => one.halted, shown: (one) => (one.halted ? (one.severity ?? "HALTED") : "no") },
    { name: "severity", of: (one) => one.severity, onlyCsv: true },
  ];
  return listing(context, { columns, rows: await (await context.client()).listFunds(), none: "There are no funds." });
}

// `f`: the funds, what they are worth, what the day made of them, how much is exposed, and whether they are halted.

import type { Instant } from "../../../contracts/src/instant.ts";
import { amount, percent } from "../../words/figures.ts";
import { scopeWord } from "../../words/halt-words.ts";
import { age, ageMs } from "../../words/times.ts";
import { type Data, type Fund, listOf } from "../lists.ts";
import { profit, sizeOf } from "../view/figures.ts";
import { span } from "../view/text.ts";
import { type Column, noneOf, type Screen, section } from "./screen.ts";

export const funds: Screen = {
  key: "f",
  name: "funds",
  title: "FUNDS",
  sentence: "Funds with value, day's profit, gross, net and halt.",
  needs: ["funds", "strategies"],
  command: "ctl treasury funds list",
  sections: (data, { now }) => [
    section({
      columns: columnsOf(data, now),
      items: listOf(data, "funds"),
      none: noneOf(data, "funds", "There are no funds."),
      id: ({ fund_id }) => fund_id,
      target: ({ fund_id }) => ({ kind: "fund", fundId: fund_id }),
      command: ({ fund_id }) => `ctl riskengine envelope show --fund-id ${fund_id}`,
    }),
  ],
};

function columnsOf(data: Data, now: Instant): readonly Column<Fund>[] {
  const strategiesOf = (fundId: string): string =>
    listOf(data, "strategies")
      .filter(({ fund_id }) => fund_id === fundId)
      .map(({ strategy_id, status }) => (status === "live" ? strategy_id : `${strategy_id} (${status})`))
      .join(", ");
  return [
    { head: "FUND", rank: 0, of: (one) => one.fund_id },
    { head: "MODE", rank: 0, of: (one) => span(one.mode, one.mode === "LIVE" ? "strong" : "plain") },
    {
      head: "NAV",
      rank: 0,
      right: true,
      of: (one) => (one.nav === undefined ? span("not valued", "warn") : amount(one.nav)),
      by: (one) => sizeOf(one.nav),
    },
    { head: "DAY'S PROFIT", rank: 0, right: true, of: (one) => profit(one.day_pnl), by: (one) => sizeOf(one.day_pnl) },
    {
      head: "GROSS",
      rank: 0,
      right: true,
      of: (one) => percent(one.gross_exposure_pct),
      by: (one) => one.gross_exposure_pct ?? 0,
    },
    {
      head: "NET",
      rank: 0,
      right: true,
      of: (one) => percent(one.net_exposure_pct),
      by: (one) => one.net_exposure_pct ?? 0,
    },
    {
      head: "HALTED",
      rank: 0,
      of: (one) => (one.halted ? span(`HALTED ${scopeWord(one.severity)}`.trim(), "bad") : "no"),
    },
    {
      head: "NAV AGE",
      rank: 1,
      right: true,
      of: (one) => age(one.nav_at, now),
      by: (one) => ageMs(one.nav_at, now) ?? 0,
    },
    { head: "CURRENCY", rank: 2, of: (one) => one.currency },
    { head: "NAME", rank: 3, of: (one) => one.name },
    { head: "STRATEGIES", rank: 4, of: (one) => strategiesOf(one.fund_id) },
  ];
}

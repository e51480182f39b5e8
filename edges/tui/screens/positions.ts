// `p`: what is held, what it is worth, what it made, how much of the position limit it uses, and how old its price is.

import type { Instant } from "../../../contracts/src/instant.ts";
import { amount, percent } from "../../words/figures.ts";
import { price } from "../../words/money.ts";
import { age, ageMs } from "../../words/times.ts";
import { type Data, type Lists, listOf, type Position } from "../lists.ts";
import { profit, sizeOf, toneOfBand } from "../view/figures.ts";
import { span } from "../view/text.ts";
import { type Column, isMixed, modeOf, noneOf, type Screen, section } from "./screen.ts";

export const positions: Screen = {
  key: "p",
  name: "positions",
  title: "POSITIONS",
  sentence: "Positions with value, profit, share of the limit and age of the price.",
  needs: ["positions", "use"],
  command: "ctl ls",
  sections: (data, { now }) => [
    section({
      columns: columnsOf(data, now),
      items: listOf(data, "positions"),
      none: noneOf(data, "positions", "Nothing is held."),
      id: ({ fund_id, strategy_id, symbol }) => `${fund_id}/${strategy_id}/${symbol}`,
      target: ({ fund_id, strategy_id, symbol }) => ({
        kind: "position",
        fundId: fund_id,
        symbol,
        strategyId: strategy_id,
      }),
      command: ({ fund_id }) => `ctl oms positions list --fund-id ${fund_id}`,
    }),
  ],
};

/** A price older than this is worth a word. */
const priceAgeMsMax = 10_000;

function columnsOf(data: Data, now: Instant): readonly Column<Position>[] {
  const uses = new Map(
    listOf(data, "use")
      .filter(({ limit }) => limit === "max_position_pct")
      .map((use) => [`${use.fund_id}/${use.scope}`, use]),
  );
  const useOf = ({ fund_id, symbol }: Position): Lists["use"][number] | undefined => uses.get(`${fund_id}/${symbol}`);
  return [
    // A strategy belongs to one fund, so where there is no room for both the fund goes.
    { head: "FUND", rank: 1, of: (one) => one.fund_id },
    { head: "SYMBOL", rank: 0, of: (one) => one.symbol, widthMax: 21 },
    { head: "STRATEGY", rank: 0, widthMax: 14, of: (one) => one.strategy_id },
    { head: "QUANTITY", rank: 0, right: true, of: (one) => one.quantity, by: (one) => sizeOf(one.quantity) },
    {
      head: "VALUE",
      rank: 0,
      right: true,
      of: (one) => (one.market_value === undefined ? span("no price", "warn") : amount(one.market_value)),
      by: (one) => sizeOf(one.market_value),
    },
    {
      head: "PROFIT",
      rank: 0,
      right: true,
      of: (one) => profit(one.unrealised_pnl),
      by: (one) => sizeOf(one.unrealised_pnl),
    },
    {
      head: "LIMIT",
      rank: 0,
      right: true,
      of: (one) => limitCell(useOf(one)),
      by: (one) => useOf(one)?.share ?? 0,
    },
    {
      head: "AGE",
      rank: 0,
      right: true,
      of: (one) => {
        const ms = ageMs(one.mark_at, now);
        return span(age(one.mark_at, now), ms === undefined || ms > priceAgeMsMax ? "warn" : "plain");
      },
      by: (one) => ageMs(one.mark_at, now) ?? 0,
    },
    { head: "MODE", rank: isMixed(data) ? 0 : 4, of: (one) => modeOf(data, one.fund_id) },
    { head: "PRICE", rank: 2, right: true, of: (one) => price(one.mark_price), by: (one) => sizeOf(one.mark_price) },
    {
      head: "AVERAGE",
      rank: 3,
      right: true,
      of: (one) => price(one.average_price),
      by: (one) => sizeOf(one.average_price),
    },
    { head: "CURRENCY", rank: 5, of: (one) => one.currency ?? "" },
  ];
}

function limitCell(use: Lists["use"][number] | undefined) {
  if (use === undefined) return span("");
  return use.share === undefined ? span("?", "warn") : span(percent(use.share), toneOfBand(use.band));
}

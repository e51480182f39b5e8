// Positions as a list: what is held, what it cost, what it is worth. One without a fresh price has no value, and says so.

import type { AnswerOf } from "../../client/src/types.ts";
import { money, price } from "../../words/money.ts";
import type { ModeOf } from "../fund-modes.ts";
import type { Column } from "./listing.ts";

export type Position = AnswerOf<"getPositions">[number];

export function positionColumns(modeOf: ModeOf): readonly Column<Position>[] {
  return [
    { name: "fund_id", of: (one) => one.fund_id },
    { name: "mode", always: true, of: (one) => modeOf(one.fund_id) },
    { name: "strategy_id", of: (one) => one.strategy_id },
    { name: "symbol", key: true, of: (one) => one.symbol },
    { name: "quantity", of: (one) => one.quantity, number: true },
    {
      name: "average_price",
      head: "average",
      minor: 2,
      of: (one) => one.average_price,
      shown: (one) => price(one.average_price),
      number: true,
    },
    {
      name: "mark_price",
      head: "mark",
      always: true,
      of: (one) => one.mark_price,
      shown: (one) => (one.mark_price === undefined ? "no price" : price(one.mark_price)),
      number: true,
    },
    {
      name: "market_value",
      head: "value",
      of: (one) => one.market_value,
      shown: (one) => money(one.market_value),
      number: true,
    },
    {
      name: "unrealised_pnl",
      head: "pnl",
      of: (one) => one.unrealised_pnl,
      shown: (one) => money(one.unrealised_pnl),
      number: true,
    },
    { name: "currency", minor: 3, of: (one) => one.currency },
    {
      name: "mark_at",
      head: "priced",
      of: (one) => one.mark_at,
      time: true,
    },
    { name: "as_of", minor: 4, of: (one) => one.as_of, time: true },
  ];
}

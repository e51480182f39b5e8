// Positions as a list: what is held, what it cost, what it is worth. One without a fresh price has no value, and says so.
import type { Instant } from "../../../contracts/src/instant.ts";
import type { AnswerOf } from "../../client/src/types.ts";
import type { ModeOf } from "../fund-modes.ts";
import type { Column } from "./listing.ts";
import { money, price } from "./money.ts";
import { moment } from "./text.ts";

export type Position = AnswerOf<"getPositions">[number];

export function positionColumns(modeOf: ModeOf, now: Instant): readonly Column<Position>[] {
  return [
    { name: "fund_id", of: (one) => one.fund_id },
    { name: "mode", of: (one) => modeOf(one.fund_id) },
    { name: "strategy_id", of: (one) => one.strategy_id },
    { name: "symbol", of: (one) => one.symbol },
    { name: "quantity", of: (one) => one.quantity, number: true },
    { name: "average_price", of: (one) => one.average_price, shown: (one) => price(one.average_price), number: true },
    {
      name: "mark_price",
      of: (one) => one.mark_price,
      shown: (one) => (one.mark_price === undefined ? "no price" : price(one.mark_price)),
      number: true,
    },
    { name: "market_value", of: (one) => one.market_value, shown: (one) => money(one.market_value), number: true },
    {
      name: "unrealised_pnl",
      of: (one) => one.unrealised_pnl,
      shown: (one) => money(one.unrealised_pnl),
      number: true,
    },
    { name: "currency", of: (one) => one.currency },
    {
      name: "mark_at",
      of: (one) => one.mark_at,
      shown: (one) => (one.mark_at === undefined ? "" : moment(one.mark_at, now)),
    },
    { name: "as_of", of: (one) => one.as_of, shown: (one) => moment(one.as_of, now) },
  ];
}

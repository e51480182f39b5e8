// `o`: orders, open ones first, then the newest; each with its state and, where it was refused, the code.

import type { Instant } from "../../../contracts/src/instant.ts";
import { isOpen } from "../../words/order-words.ts";
import { age, ageMs } from "../../words/times.ts";
import { type Data, listOf, type Order } from "../lists.ts";
import { sizeOf } from "../view/figures.ts";
import { type Span, span } from "../view/text.ts";
import { type Column, isMixed, modeOf, noneOf, type Screen, section } from "./screen.ts";

export const orders: Screen = {
  key: "o",
  name: "orders",
  title: "ORDERS",
  sentence: "Orders, open ones first, with state and code.",
  needs: ["orders"],
  command: "ctl oms orders list",
  sections: (data, { now }) => [
    section({
      columns: columnsOf(data, now),
      items: openFirst(listOf(data, "orders")),
      none: noneOf(data, "orders", "There are no orders."),
      id: ({ order }) => order.order_id,
      target: ({ order }) => ({ kind: "order", orderId: order.order_id }),
      command: ({ order }) => `ctl why ${order.order_id}`,
    }),
  ],
};

function openFirst(list: readonly Order[]): readonly Order[] {
  const newest = [...list].sort((one, other) => other.created_at.localeCompare(one.created_at, "en"));
  return [...newest.filter(isOpen), ...newest.filter((one) => !isOpen(one))];
}

function columnsOf(data: Data, now: Instant): readonly Column<Order>[] {
  return [
    {
      head: "AGE",
      rank: 0,
      right: true,
      of: (one) => age(one.created_at, now),
      by: (one) => ageMs(one.created_at, now) ?? 0,
    },
    { head: "ORDER", rank: 0, of: ({ order }) => order.order_id, widthMax: 24 },
    { head: "FUND", rank: 1, of: ({ order }) => order.fund_id },
    { head: "SYMBOL", rank: 0, of: ({ order }) => order.symbol, widthMax: 21 },
    { head: "SIDE", rank: 0, of: ({ order }) => order.side },
    {
      head: "QUANTITY",
      rank: 0,
      right: true,
      of: ({ order }) => order.quantity,
      by: ({ order }) => sizeOf(order.quantity),
    },
    {
      head: "FILLED",
      rank: 2,
      right: true,
      of: (one) => one.filled_quantity,
      by: (one) => sizeOf(one.filled_quantity),
    },
    { head: "STATE", rank: 0, of: stateCell },
    { head: "CODE", rank: 0, ifAny: true, of: ({ code }) => span(code ?? "", "bad") },
    { head: "TYPE", rank: 3, of: ({ order }) => order.order_type },
    {
      head: "LIMIT",
      rank: 4,
      right: true,
      of: ({ order }) => order.limit_price ?? "",
      by: ({ order }) => sizeOf(order.limit_price),
    },
    { head: "STRATEGY", rank: 5, of: ({ order }) => order.strategy_id },
    { head: "MODE", rank: isMixed(data) ? 0 : 6, of: ({ order }) => modeOf(data, order.fund_id) },
    { head: "REASON", rank: 7, of: ({ reason }) => reason ?? "", widthMax: 60 },
  ];
}

function stateCell({ state }: Order): Span {
  if (state === "REJECTED") return span(state, "bad");
  if (state === "UNKNOWN" || state === "CANCEL_PENDING") return span(state, "warn");
  return span(state, isOpen({ state }) ? "strong" : "plain");
}

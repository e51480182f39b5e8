// An order and what became of it, as a person reads it. Being accepted is not being filled, and not having heard from the broker is neither: every state has
// a sentence of its own, and a script gets the difference as the exit code.
import { type ExitCode, exitCodes } from "../../../contracts/src/codes/shape.ts";
import type { Instant } from "../../../contracts/src/instant.ts";
import type { AnswerOf } from "../../client/src/types.ts";
import { price } from "../../words/money.ts";
import { isOpen, termsText } from "../../words/order-words.ts";
import type { ModeOf } from "../fund-modes.ts";
import type { Column } from "./listing.ts";
import { clean, moment, pairs } from "./text.ts";

export type OrderStatus = AnswerOf<"getOrder">;

const sentences: Readonly<Record<OrderStatus["state"], (status: OrderStatus) => string>> = {
  PENDING_CHECK: () => "The risk engine has not answered yet; nothing was sent to the broker.",
  REJECTED: () => "It was rejected and does not trade.",
  ACCEPTED: () => "It is approved and not with the broker yet; nothing is filled.",
  ROUTED: () => "It was sent to the broker, which has not confirmed it yet; nothing is filled.",
  WORKING: () => "It is working at the broker; nothing is filled yet.",
  PARTIALLY_FILLED: (status) => `${filled(status)}; the rest is working.`,
  FILLED: (status) => `${filled(status)}.`,
  CANCEL_PENDING: (status) => `It is to be cancelled, which the broker has not confirmed yet. ${filled(status)}.`,
  CANCELLED: (status) => `It is cancelled. ${filled(status)}.`,
  EXPIRED: (status) => `Its time is over. ${filled(status)}.`,
  UNKNOWN: (status) =>
    `The broker has not said what became of it: it may trade, or not. ${filled(status)} as far as is known.`,
};

function filled({ order, filled_quantity, average_price }: OrderStatus): string {
  if (filled_quantity === "0") return "Nothing is filled";
  const at = average_price === undefined ? "" : ` at ${price(average_price)} on average`;
  return `Filled are ${filled_quantity} of ${order.quantity}${at}`;
}

/** A rejection is a refusal; what nobody knows the end of is pending. */
export function exitOf({ state }: OrderStatus): ExitCode {
  if (state === "REJECTED") return exitCodes.refused;
  return state === "PENDING_CHECK" || state === "UNKNOWN" || state === "CANCEL_PENDING"
    ? exitCodes.pending
    : exitCodes.ok;
}

export function outcomeText(status: OrderStatus): string {
  const { order, state, code, reason } = status;
  const lines = [`${order.order_id} is ${state}. ${sentences[state](status)}`];
  // A cancelled order has no code, and all the same somebody or something cancelled it.
  if (code !== undefined) lines.push(`${code}: ${reason ?? ""}`);
  else if (reason !== undefined && reason !== "") lines.push(`Why: ${reason}`);
  return lines.map(clean).join("\n");
}

export function orderText(status: OrderStatus, mode: string, now: Instant): string {
  const { order, decision } = status;
  return [
    outcomeText(status),
    "",
    pairs([
      ["Order", termsText(status)],
      ["Fund", `${order.fund_id} (${mode}), strategy ${order.strategy_id}`],
      ["Broker", status.broker_order_id === undefined ? order.broker : `${order.broker}, as ${status.broker_order_id}`],
      [
        "Filled",
        !isOpen(status) ? status.filled_quantity : `${status.filled_quantity}, remaining ${status.remaining_quantity}`,
      ],
      ["Average", status.average_price],
      ["Slice of", status.parent_order_id],
      ["Cut from", status.cut_from],
      ["Submitted by", submitterText(status)],
      ["Actor, claimed", order.actor],
      ["Thesis", order.thesis],
      ["Decision", decision?.decision_id],
      ["Created", moment(status.created_at, now)],
      ["Updated", moment(status.updated_at, now)],
    ]),
  ].join("\n");
}

export function orderColumns(modeOf: ModeOf): readonly Column<OrderStatus>[] {
  return [
    { name: "created_at", head: "created", of: (one) => one.created_at, time: true },
    { name: "order_id", id: true, of: ({ order }) => order.order_id },
    { name: "fund_id", of: ({ order }) => order.fund_id },
    { name: "mode", always: true, of: ({ order }) => modeOf(order.fund_id) },
    { name: "strategy_id", minor: 2, of: ({ order }) => order.strategy_id },
    { name: "symbol", of: ({ order }) => order.symbol },
    { name: "side", of: ({ order }) => order.side },
    { name: "quantity", of: ({ order }) => order.quantity, number: true },
    { name: "order_type", head: "type", minor: 4, of: ({ order }) => order.order_type },
    { name: "limit_price", head: "limit", minor: 3, of: ({ order }) => order.limit_price, number: true },
    { name: "state", of: (one) => one.state },
    { name: "filled_quantity", head: "filled", of: (one) => one.filled_quantity, number: true },
    {
      name: "average_price",
      head: "average",
      minor: 3,
      of: (one) => one.average_price,
      shown: (one) => price(one.average_price),
      number: true,
    },
    { name: "code", of: (one) => one.code },
    { name: "why", onlyTable: true, text: true, minor: 1, of: whyText },
    { name: "submitted_by", minor: 5, of: (one) => one.submitted_by, shown: submitterText },
    { name: "stop_price", of: ({ order }) => order.stop_price, onlyCsv: true },
    { name: "tif", of: ({ order }) => order.tif, onlyCsv: true },
    { name: "remaining_quantity", of: (one) => one.remaining_quantity, onlyCsv: true },
    { name: "reduce_only", of: ({ order }) => order.reduce_only === true, onlyCsv: true },
    { name: "broker", of: ({ order }) => order.broker, onlyCsv: true },
    { name: "broker_order_id", of: (one) => one.broker_order_id, onlyCsv: true },
    { name: "parent_order_id", of: (one) => one.parent_order_id, onlyCsv: true },
    { name: "actor", of: ({ order }) => order.actor, onlyCsv: true },
    { name: "reason", of: (one) => one.reason, onlyCsv: true },
    { name: "updated_at", of: (one) => one.updated_at, onlyCsv: true },
  ];
}

/** Whose token brought the order, proven; what it says of its actor is a claim. */
export function submitterText({ submitted_by: by }: Pick<OrderStatus, "submitted_by">): string {
  return by ?? "not recorded";
}

/** Only of what ended against somebody's will: the rest needs no reason. */
function whyText({ state, reason }: OrderStatus): string {
  return ["REJECTED", "CANCELLED", "CANCEL_PENDING", "EXPIRED"].includes(state) ? (reason ?? "") : "";
}

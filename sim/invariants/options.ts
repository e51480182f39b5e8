// What must be true of options, counted a second time: by the market's own delta and the orders that may be alive.
import * as decimal from "../../contracts/src/decimal.ts";
import type { DecisionMade, Order } from "../../contracts/src/records/order.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { buys, envelopeKey, isOver, leftOf, positionKey } from "../history.ts";
import { type Invariant, onMessage } from "./invariant.ts";

/** Prices and deltas move between a mark and the decision, and gaps are among the faults. */
const slack = 1.25;

export const optionsCountTheirUnderlying: Invariant = {
  name: "options_count_their_underlying",
  sentence:
    "When new risk in an option is approved, what its contracts move with of their underlying, if every order that may be alive trades, is within the position limit, because a premium says nothing about what an option can lose.",
  violated: (evidence) =>
    onMessage<DecisionMade>(evidence, subjects.decisionMade, ({ order: asked, decision }) => {
      const order = asked as unknown as Order;
      const { past, platform } = evidence;
      const addsRisk = decision.approved && decision.classification !== "REDUCE" && decision.dry_run !== true;
      const isAmendment = past.orders.get(order.order_id)?.approval !== undefined;
      if (!addsRisk || isAmendment || order.asset_class !== "OPTION") return undefined;
      const envelope = past.envelopes.get(envelopeKey(order.fund_id, decision.envelope_version ?? 0));
      const gate = decision.checks.find(({ gate: name }) => name === "position_risk");
      const nav = Number(gate?.figures.find(({ name }) => name === "nav")?.value);
      if (envelope === undefined) return `${order.order_id} was approved under limits that nobody reported`;
      const held = past.positions.get(positionKey(order.fund_id, order.symbol)) ?? decimal.zero;
      const pending = [...past.orders.values()]
        .filter((known) => known.approval !== undefined && !isOver(known.state))
        .filter(({ order: other }) => other.fund_id === order.fund_id && other.symbol === order.symbol)
        .filter(({ order: other }) => other.order_id !== order.order_id && buys(other.side) === buys(order.side))
        .reduce((sum, known) => decimal.add(sum, leftOf(known)), decimal.parse(order.quantity));
      const reached = decimal.abs(buys(order.side) ? decimal.add(held, pending) : decimal.subtract(held, pending));
      const multiplier = decimal.toNumber(past.multipliers.get(order.symbol) ?? decimal.one);
      const delta = Math.abs(platform.outside.delta(order.symbol) ?? 0);
      const counted = decimal.toNumber(reached) * delta * platform.outside.bidAsk("SPY").bid * multiplier;
      if (counted <= envelope.max_position_pct * nav * slack) return undefined;
      return `${order.order_id} was approved for ${decimal.format(reached)} ${order.symbol}, which move with ${Math.round(counted)} of SPY, with a NAV of ${nav} and a limit of ${envelope.max_position_pct}`;
    }),
};

// What must be true of exits under a halt: the way out stays open for what is proven to be one, and for nothing else.

import * as decimal from "../../contracts/src/decimal.ts";
import type { DecisionMade, Order, OrderTransition } from "../../contracts/src/records/order.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { covers, isInForceAt } from "../../testkit/halt-judge.ts";
import type { Evidence } from "../evidence.ts";
import { buys, envelopeKey, type History, leftOf, positionKey, strategyKey } from "../history.ts";
import { isLowered, mayTrade } from "./decisions.ts";
import { type Invariant, onMessage } from "./invariant.ts";

export const haltsLetExitsOut: Invariant = {
  name: "halts_let_exits_out",
  sentence:
    "No halt and no loss refuses a marked and proven reduction that the fund's limits let pass, a stop's least of all, because whoever cannot get out of a halted fund watches it lose.",
  violated: (evidence) =>
    onMessage<DecisionMade>(evidence, subjects.decisionMade, ({ order: asked, decision }) => {
      const order = asked as unknown as Order;
      const isExit = order.reduce_only === true && decision.classification === "REDUCE";
      if (decision.approved || decision.rejecting_gate !== "drawdown_halt" || !isExit) return undefined;
      const limits = evidence.past.envelopes.get(envelopeKey(order.fund_id, decision.envelope_version ?? 0));
      if (limits?.halt_allow_reduce_only !== true) return undefined;
      if (decision.code === "STRATEGY_REDUCTION_UNPROVEN" && mayReduceNothing(evidence.past, order)) return undefined;
      return `the exit ${order.order_id} was refused with ${decision.code}, and version ${limits.version} lets exits pass`;
    }),
};

/** The engine may count what it has not heard the end of: less than the order is left to whoever counts every other order of the strategy in full. */
function mayReduceNothing(past: History, order: Order): boolean {
  const { fund_id: fundId, strategy_id: strategyId, symbol, side, quantity } = order;
  const held = past.strategyPositions.get(strategyKey(fundId, strategyId, symbol)) ?? decimal.zero;
  const pending = [...past.orders.values()].filter(
    ({ order: other }) =>
      other.order_id !== order.order_id &&
      other.fund_id === fundId &&
      other.strategy_id === strategyId &&
      other.symbol === symbol &&
      buys(other.side) === buys(side),
  );
  const asked = pending.reduce((sum, one) => decimal.add(sum, decimal.parse(one.order.quantity)), decimal.zero);
  return decimal.parse(quantity) > decimal.subtract(buys(side) ? decimal.negate(held) : held, asked);
}

const cancelledByHalt = /^The halt (\S+) covers it/;
/** Whoever asked for the limits may have been answered a little before they changed. */
const newLimitsUs = 2_000_000;

export const haltsSpareExits: Invariant = {
  name: "halts_spare_exits",
  sentence:
    "A halt never cancels a marked and proven exit that the fund's limits let pass, because the halt is there to end risk and the exit does just that.",
  violated: (evidence) =>
    onMessage<OrderTransition>(evidence, subjects.ordersUpdated, ({ order_id: id, to, reason = "" }, { at }) => {
      const halt = cancelledByHalt.exec(reason)?.[1];
      if (to !== "CANCEL_PENDING" || halt === undefined) return undefined;
      const { past } = evidence;
      const known = past.orders.get(id);
      const isExit = known?.order.reduce_only === true && known.approval?.classification === "REDUCE";
      if (known === undefined || !isExit || !letsExitsPass(past, known.order.fund_id, at)) return undefined;
      // Against what another strategy holds it is none of its strategy's exits.
      const isOfStrategy = past.halts.find((one) => one.halt_id === halt)?.severity === "STRATEGY_HALT";
      if (isOfStrategy && known.approval?.reduces_strategy !== true) return undefined;
      return `the halt ${halt} cancelled the exit ${id}`;
    }),
};

/** By every version of the limits that somebody may have taken for the newest. */
function letsExitsPass(past: History, fundId: string, at: number): boolean {
  const versions = [...past.envelopes.values()].filter((one) => one.fund_id === fundId);
  return versions.every(({ version, halt_allow_reduce_only: passes }) => {
    const next = past.envelopesAt.get(envelopeKey(fundId, version + 1));
    return passes || (next !== undefined && at - next.at > newLimitsUs);
  });
}

/** An adjustment is a fact that the engine may not have heard of yet. */
const adjustmentUs = 10_000_000;

export const exitsAreProven: Invariant = {
  name: "exits_are_proven",
  sentence:
    "What passes a halt closes no more than is held beyond the other exits under way, and a marked exit no more than its own strategy holds, because an order that only claims to reduce, flips, or competes with another exit opens a position.",
  violated: (evidence) =>
    onMessage<DecisionMade>(evidence, subjects.decisionMade, ({ order: asked, decision }, { at }) => {
      const order = asked as unknown as Order;
      const { past } = evidence;
      if (!decision.approved || decision.dry_run === true || isLowered(past, order)) return undefined;
      const halted = past.halts.filter((one) => isInForceAt(one, decision.halt_epoch) && covers(one, order));
      const [halt] = halted;
      const adjusted = past.adjustedAt.get(positionKey(order.fund_id, order.symbol)) ?? 0;
      const isOwn = mustBeOwn(order) || halted.some(({ severity }) => severity === "STRATEGY_HALT");
      if ((halt === undefined && !isOwn) || at - adjusted < adjustmentUs) return undefined;
      const crossed = past.crossedAt.get(strategyKey(order.fund_id, order.strategy_id, order.symbol)) ?? 0;
      const closable = closableOf(evidence, order, decision.decided_at, isOwn && at - crossed >= adjustmentUs);
      const open = decimal.subtract(
        decimal.parse(order.quantity),
        past.orders.get(order.order_id)?.filled ?? decimal.zero,
      );
      if (order.reduce_only === true && open <= closable) return undefined;
      const where = halt?.halt_id ?? "as an exit";
      return `${order.order_id} of ${order.quantity} passed ${where}, and ${decimal.format(closable)} were left to close`;
    }),
};

/** Stops and flattened funds close what the fund holds. */
function mustBeOwn({ reduce_only: isMarked, order_id: id }: Order): boolean {
  return isMarked === true && !id.startsWith("stop-") && !id.startsWith("flatten-");
}

/**
 * What this side may still close: what the fund holds, less what every other order on this side may trade; in a halt of the strategy no more than the same
 * of that strategy alone.
 */
function closableOf(evidence: Evidence, order: Order, decidedAt: string, ofStrategyToo: boolean): decimal.Decimal {
  const { past } = evidence;
  const { fund_id: fundId, strategy_id: strategyId, symbol } = order;
  const ofFund = past.positions.get(positionKey(fundId, symbol)) ?? decimal.zero;
  const ofAll = beyondOthers(evidence, order, decidedAt, ofFund, () => true);
  if (!ofStrategyToo) return ofAll;
  const own = past.strategyPositions.get(strategyKey(fundId, strategyId, symbol)) ?? decimal.zero;
  const isOwn = (other: Order): boolean => other.strategy_id === strategyId;
  return decimal.min(ofAll, beyondOthers(evidence, order, decidedAt, own, isOwn));
}

function beyondOthers(
  evidence: Evidence,
  { fund_id: fundId, symbol, side, order_id: id }: Order,
  decidedAt: string,
  held: decimal.Decimal,
  counts: (order: Order) => boolean,
): decimal.Decimal {
  const ours = buys(side) ? decimal.negate(held) : held;
  const pending = [...evidence.past.orders.values()].filter(
    (one) =>
      mayTrade(one, evidence, decidedAt) &&
      one.order.fund_id === fundId &&
      one.order.symbol === symbol &&
      one.order.order_id !== id &&
      counts(one.order) &&
      buys(one.order.side) === buys(side),
  );
  const taken = pending.reduce((sum, one) => decimal.add(sum, leftOf(one)), decimal.zero);
  return decimal.subtract(ours, taken);
}

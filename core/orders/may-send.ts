// Whether an approved order may be sent at this moment: its approval has not run out and was not released, and no halt that covers it is newer than the one the
// risk engine knew when it decided. A proven reduction that is marked so passes halts where the fund's envelope lets it; a halt of its strategy only
// if it was proven to reduce what that strategy itself holds.
import type { Denial } from "../../contracts/src/codes.ts";
import { type Instant, parse } from "../../contracts/src/instant.ts";
import type { ActiveHalt } from "../../contracts/src/records/halt.ts";
import type { Order, RiskDecision } from "../../contracts/src/records/order.ts";

type Scoped = Pick<Order, "fund_id" | "strategy_id">;

/** Whether a halt covers an order: the firm's covers all of them. */
export function haltCovers(halt: Pick<ActiveHalt, "severity" | "fund_id" | "strategy_id">, order: Scoped): boolean {
  if (halt.severity === "FIRM_HALT") return true;
  if (halt.severity === "FUND_HALT") return halt.fund_id === order.fund_id;
  return halt.strategy_id === order.strategy_id;
}

/** An order that was marked as a reduction and that the engine proved to be one. */
export function isProvenReduction(order: Pick<Order, "reduce_only">, decision: RiskDecision | undefined): boolean {
  return order.reduce_only === true && decision?.approved === true && decision.classification === "REDUCE";
}

/** Whether an exit passes that halt, where the fund's envelope lets exits pass: one of the strategy asks that it reduces the strategy's own position. */
export function passesHalt(
  order: Pick<Order, "reduce_only">,
  decision: RiskDecision | undefined,
  halt: Pick<ActiveHalt, "severity">,
): boolean {
  if (!isProvenReduction(order, decision)) return false;
  return halt.severity !== "STRATEGY_HALT" || decision?.reduces_strategy === true;
}

interface Sending {
  readonly order: Order;
  readonly decision: RiskDecision;
  readonly halts: readonly ActiveHalt[];
  /** Whether the fund's envelope lets proven reductions pass halts. */
  readonly exitsPassHalts: boolean;
  /** Approvals of the order up to this `valid_until` were released; undefined when none was. */
  readonly releasedThrough: Instant | undefined;
  readonly at: Instant;
}

/** Why it may not be sent; undefined when it may. */
export function whyNotSend(sending: Sending): Denial | undefined {
  const { order, decision, halts, exitsPassHalts, releasedThrough, at } = sending;
  const validUntil = decision.valid_until === undefined ? undefined : parse(decision.valid_until);
  if (releasedThrough !== undefined && validUntil !== undefined && validUntil <= releasedThrough) {
    const reason = `The approval of ${order.order_id} was released before it was sent: nothing is reserved for it.`;
    return { code: "APPROVAL_RELEASED", reason };
  }
  if (validUntil === undefined || at > validUntil) {
    return { code: "APPROVAL_EXPIRED", reason: `The approval of ${order.order_id} ran out before it was sent.` };
  }
  const newer = halts.find(
    (halt) =>
      halt.epoch > decision.halt_epoch &&
      haltCovers(halt, order) &&
      !(exitsPassHalts && passesHalt(order, decision, halt)),
  );
  if (newer === undefined) return undefined;
  return {
    code: "APPROVAL_OUTDATED",
    reason: `The halt ${newer.halt_id} came between the approval of ${order.order_id} and its sending.`,
  };
}

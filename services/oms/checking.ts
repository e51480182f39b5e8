// The first step of an order: the risk engine is asked, with the same key for as long as that key counts. An answer that was lost is asked for
// again, and the first decision, which comes attached to the second answer, is taken as ours while it still holds.
//
//  1. The order is durable before anybody is asked about it.
//  2. Nobody's silence is read as a no before the key's time has run out; then the order ends, and its end releases whatever was reserved.
//  3. An order that somebody wants gone is not ended before its check is answered: an approval that came after its end would stay reserved for good.
import type { Denial } from "../../contracts/src/codes.ts";
import { type Instant, millisecondsBetween, parse } from "../../contracts/src/instant.ts";
import type { Order, RiskDecision } from "../../contracts/src/records/order.ts";
import type { StoredOrder } from "../../ports/oms-records.ts";
import { keyWindowMs, type OmsPorts, type StepOutcome } from "./oms-parts.ts";
import { move, type OrderChanges } from "./transitions.ts";

/** What a decision means for the order that it is about. */
type Verdict =
  | { readonly approved: true; readonly decision: RiskDecision }
  | { readonly approved: false; readonly decision: RiskDecision; readonly denial: Denial };

export function verdictOf(answer: RiskDecision, order: Order, at: Instant): Verdict {
  const { original } = answer;
  // Only the very same order gets this code; one that differs gets KEY_REUSED.
  const isRepeated = !answer.approved && answer.code === "DUPLICATE_KEY" && original?.order_id === order.order_id;
  const decision: RiskDecision = isRepeated && original !== undefined ? original : answer;
  if (!decision.approved) {
    // Codes of decisions are denials of the registry.
    const code = decision.code as Denial["code"];
    return { approved: false, decision, denial: { code, reason: decision.reason } };
  }
  if (decision.valid_until !== undefined && parse(decision.valid_until) >= at) return { approved: true, decision };
  const reason = `The approval of ${order.order_id} ran out before it was heard.`;
  return { approved: false, decision, denial: { code: "APPROVAL_EXPIRED", reason } };
}

export function createChecking(ports: OmsPorts) {
  async function settle(
    { order: { order_id: orderId } }: StoredOrder,
    verdict: "unanswered" | Verdict,
  ): Promise<StoredOrder> {
    return ports.store.transact("oms.decide", async (unit) => {
      const stored = await unit.oms.lockOrder(orderId);
      if (stored === undefined) throw new Error(`the order ${orderId} is gone`);
      const at = ports.clock.now();
      const decided: OrderChanges = verdict === "unanswered" ? {} : { decision: verdict.decision };
      if (stored.cancelReason !== undefined) {
        return move(unit, stored, "drop", at, { ...decided, reason: stored.cancelReason });
      }
      if (verdict === "unanswered") {
        const reason = `The risk engine did not answer for ${keyWindowMs / 1_000} seconds.`;
        return move(unit, stored, "deny", at, { code: "ORDER_CHECK_UNANSWERED", reason });
      }
      if (verdict.approved) return move(unit, stored, "approve", at, decided);
      return move(unit, stored, "deny", at, { ...decided, ...verdict.denial });
    });
  }

  return async (stored: StoredOrder): Promise<StepOutcome> => {
    if (millisecondsBetween(stored.createdAt, ports.clock.now()) >= keyWindowMs) return settle(stored, "unanswered");
    const answer = await ports.riskChecks.check(stored.order);
    return settle(stored, verdictOf(answer, stored.order, ports.clock.now()));
  };
}

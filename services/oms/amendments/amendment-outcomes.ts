// What became of an order's amendments, kept in the order for as long as their keys count: a key that comes again gets its first outcome, and an
// approval is spent by one hand-over only.
//
//  1. A key belongs to one amendment of its order until its time has run out, whatever became of it.
//  2. An approval that was spent, by the order itself or by an earlier amendment, lets nothing out again.
//  3. The list is bounded: an order that was amended too often waits until the oldest key counts no more.
import type { Denial } from "../../../contracts/src/codes.ts";
import { format, type Instant, minusMilliseconds } from "../../../contracts/src/instant.ts";
import type { RiskDecision } from "../../../contracts/src/records/order.ts";
import { hasEnded } from "../../../core/orders/order-lifecycle.ts";
import type { Amendment, SettledAmendment, StoredOrder } from "../../../ports/oms-records.ts";
import { keyWindowMs } from "../oms-parts.ts";
import { isInForce, isSameTerms, type Terms } from "./amendment-terms.ts";

/** Amendments of one order whose keys count at the same time. */
const settledMax = 100;
/** The risk engine counts a key from its decision, which is later than the request; and clocks differ. */
const keptMs = keyWindowMs + 60_000;

/** The outcome of one amendment added, and those left out whose keys count no more. */
export function withOutcome(
  { settledAmendments = [] }: StoredOrder,
  amendment: Amendment,
  settledAt: Instant,
  denial?: Denial,
): readonly SettledAmendment[] {
  const { decision, askedAt: _asked, handedAt: _handed, ...asked } = amendment;
  const outcome: SettledAmendment = {
    ...asked,
    ...(decision !== undefined && { decisionId: decision.decision_id }),
    ...(denial !== undefined && { denial }),
    settledAt,
  };
  return [...counting(settledAmendments, settledAt), outcome];
}

function counting(settled: readonly SettledAmendment[], at: Instant): readonly SettledAmendment[] {
  const since = minusMilliseconds(at, keptMs);
  return settled.filter(({ settledAt }) => settledAt >= since);
}

export type KnownKey = { readonly stored: StoredOrder } | { readonly denial: Denial };

/** The first outcome under a key, or that it is still on its way; undefined when the key is new (invariant 1). */
export function knownKey(stored: StoredOrder, key: string, terms: Terms, at: Instant): KnownKey | undefined {
  const { order, amendment } = stored;
  const other = (whose: string): KnownKey => ({
    denial: {
      code: "ORDER_KEY_CONFLICT",
      reason: `The key belongs to ${whose}. Send an amendment with a key of its own.`,
    },
  });
  if (amendment?.idempotency_key === key) {
    if (!isSameTerms(amendment, terms)) return other(`other new terms of the order ${order.order_id}`);
    return hasEnded(stored.state) ? { denial: tooLate(stored) } : { stored };
  }
  const settled = counting(stored.settledAmendments ?? [], at).find((one) => one.idempotency_key === key);
  if (settled !== undefined) {
    if (!isSameTerms(settled, terms)) return other(`other new terms of the order ${order.order_id}`);
    return settled.denial === undefined ? { stored: asAmended(stored, settled) } : { denial: settled.denial };
  }
  return order.idempotency_key === key ? other(`the order ${order.order_id} itself`) : undefined;
}

/** The terms came into force; when others have followed, the answer says so beside the order as it is now. */
function asAmended(stored: StoredOrder, settled: SettledAmendment): StoredOrder {
  if (isInForce(stored.order, settled)) return stored;
  return { ...stored, reason: `Amended as asked at ${format(settled.settledAt)}, and amended again since then.` };
}

function tooLate({ order, state }: StoredOrder): Denial {
  return {
    code: "ORDER_NOT_OPEN",
    reason: `The order ${order.order_id} was ${state} before the new terms reached it.`,
  };
}

/** Why this approval lets these terms not out (invariant 2). */
export function whySpent(stored: StoredOrder, { decision_id: decisionId }: RiskDecision): Denial | undefined {
  const isSpent =
    stored.decision?.decision_id === decisionId ||
    (stored.settledAmendments ?? []).some((settled) => settled.decisionId === decisionId);
  if (!isSpent) return undefined;
  const reason = `The approval ${decisionId} was spent on ${stored.order.order_id} before. Amend again with a new key.`;
  return { code: "APPROVAL_SPENT", reason };
}

/** Why the order takes no further amendment for now (invariant 3). */
export function whyTooMany({ order, settledAmendments = [] }: StoredOrder, at: Instant): string | undefined {
  if (counting(settledAmendments, at).length < settledMax) return undefined;
  const minutes = keptMs / 60_000;
  return `The order ${order.order_id} was amended ${settledMax} times within ${minutes} minutes, which is the most: wait, or cancel it.`;
}

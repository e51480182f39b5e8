// How a gate asks for the conditions that stand: in their order, each noted, the first that the order does not pass is the answer. What they mean is data
// (core/blocks/index.ts).
import type { Denial, DenialCode } from "../../contracts/src/codes.ts";
import type { Order } from "../../contracts/src/generated/svc/v1/order.ts";
import { type Condition, type ConditionGate, letsThrough } from "../blocks/condition.ts";
import { conditionOf } from "../blocks/index.ts";
import { isMore } from "../money/amount.ts";
import type { Notes } from "../state/gate.ts";
import type { StandingCondition } from "../state/standing-condition.ts";
import type { FundView } from "../state/view.ts";

/** "exits too": what may keep an exit in, asked for before an exit is let go. "the rest": what every marked exit passes. */
type Asking = "exits too" | "the rest";

export function standingDenial(
  gate: ConditionGate,
  asking: Asking,
  order: Order,
  view: FundView,
  notes: Notes,
): Denial | undefined {
  const { conditions } = view;
  if (conditions.length === 0) return undefined;
  const hidden = new Set<DenialCode>();
  for (const standing of conditions) {
    const condition = conditionOf(standing.code);
    if (condition.gate !== gate || (condition.exits === "ALWAYS") !== (asking === "the rest")) continue;
    if (hidden.has(standing.code) || letsThrough(condition, order, view)) continue;
    noteStanding(condition, standing, notes);
    for (const code of condition.hides ?? []) hidden.add(code);
    if (condition.leavesToHalts === true && !view.haltsKnown) continue;
    if (condition.passive === "PASS" && noteLiquidity(order, view, notes) === "passive") continue;
    return { code: standing.code, reason: condition.sentence(standing, { order, hint: "" }) };
  }
  return undefined;
}

export function noteStanding({ figure }: Condition, { facts, reason }: StandingCondition, notes: Notes): void {
  if (figure !== undefined) notes.word(figure[0], figure[1] ?? reason);
  for (const [name, value] of facts ?? []) notes.word(name, value);
}

function noteLiquidity(order: Order, view: FundView, notes: Notes): "passive" | "marketable" {
  const liquidity = isPassive(order, view) ? "passive" : "marketable";
  notes.word("liquidity", liquidity);
  return liquidity;
}

/**
 * Whether it can only wait for others: a LIMIT order that stays, on its own side of the market. A stop trades aggressively when it is let loose, and what
 * may not wait can do nothing else. Without a price nothing is known to be passive.
 */
function isPassive(order: Order, { terms, bid, ask, price }: FundView): boolean {
  const { limitPrice, direction } = terms;
  if (order.order_type !== "LIMIT" || order.tif === "IOC" || order.tif === "FOK") return false;
  const opposite = direction === 1 ? (ask ?? price) : (bid ?? price);
  if (limitPrice === undefined || opposite === undefined) return false;
  return direction === 1 ? isMore(opposite, limitPrice) : isMore(limitPrice, opposite);
}

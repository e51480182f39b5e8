// From approval to the broker. What may be sent is decided in one transaction with the halts as they are at that moment: a halt is latched
// either before it, and refuses the order, or after it, and finds the order to cancel.
//
//  1. Nothing is sent that is not ROUTED in the store, and nothing becomes ROUTED without an approval that holds, was not released, and no newer
//     halt over it. Whoever releases an approval says so at the order, under its lock, and does not release what is ROUTED.
//  2. A broker that says nothing leaves UNKNOWN, with its reservation kept: asked by our id until it tells, never taken for refused.
//  3. What the broker says it never had is sent again only under the conditions of the first time; else it is refused, and then for good.
//  4. Nothing new is sent whose fund, strategy or instrument the reference data of that transaction does not have: a change of it waits for the
//     sending and sees the order, or comes first and is seen.
//  5. Between the commit and the sending nothing is waited for but the commit's answer; when that took so long that the approval ran out, or a
//     halt was heard of meanwhile, the order is withdrawn unsent.

import type { Denial } from "../../contracts/src/codes.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import { Defect, messageOf } from "../../contracts/src/fault.ts";
import { millisecondsBetween, parse } from "../../contracts/src/instant.ts";
import type { ActiveHalt } from "../../contracts/src/records/halt.ts";
import { whyNotSend } from "../../core/orders/may-send.ts";
import type { BrokerOrder } from "../../ports/broker.ts";
import type { StoredOrder } from "../../ports/oms-records.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import { hasUnreported, learn } from "./learning.ts";
import { type Bells, brokerOf, isSilence, type OmsPorts, type StepOutcome } from "./oms-parts.ts";
import type { QuoteKeeping } from "./quotes/keep-quotes.ts";
import { createReferenceGuard } from "./reference-guard.ts";
import { alarm, move } from "./transitions.ts";

/** What was sent may be under way for this long: a broker that does not have it yet is not asked to say that it never will. */
export const underWayMs = 2_000;

export interface Routing {
  /** An accepted order. */
  route(stored: StoredOrder): Promise<StepOutcome>;
  /** An order that may be with the broker and whose fate is not known here. */
  inquire(stored: StoredOrder): Promise<StepOutcome>;
}

interface RoutingParts {
  readonly ports: OmsPorts;
  readonly bells: Bells;
  readonly haltsHeard: () => readonly ActiveHalt[];
  readonly quotes: Pick<QuoteKeeping, "ofOrder">;
}

export function createRouting({ ports, bells, haltsHeard, quotes }: RoutingParts): Routing {
  const referenceGone = createReferenceGuard(ports);
  const { clock, store } = ports;

  /** Whether the fund's limits let a proven reduction pass halts; asked only for what claims to be one. */
  async function exitsPassHalts({ order }: StoredOrder): Promise<boolean> {
    if (order.reduce_only !== true) return false;
    return (await ports.riskChecks.envelope(order.fund_id))?.halt_allow_reduce_only ?? false;
  }

  /** In the transaction of the sending: why not, with the halts held as they are. */
  async function refusal(unit: UnitOfWork, stored: StoredOrder, exitsPass: boolean): Promise<Denial | undefined> {
    const { order, decision, releasedThrough } = stored;
    if (decision?.approved !== true) throw new Defect(`the order ${order.order_id} has no approval to be sent with`);
    const { active } = await unit.oms.haltsAtSending();
    const terms = { order, decision, exitsPassHalts: exitsPass, releasedThrough };
    const denial = whyNotSend({ ...terms, halts: active, at: clock.now() });
    return denial ?? referenceGone(unit, stored);
  }

  async function route(known: StoredOrder): Promise<StepOutcome> {
    const exitsPass = await exitsPassHalts(known);
    const routed = await store.transact("oms.route", async (unit) => {
      const stored = await lock(unit, known);
      const at = clock.now();
      if (stored.state !== "ACCEPTED") return { stored, mayBeSent: false };
      const denial = await refusal(unit, stored, exitsPass);
      if (denial !== undefined) return { stored: await move(unit, stored, "refuse", at, denial), mayBeSent: false };
      await quotes.ofOrder(unit, "ROUTED", stored.order, at);
      return { stored: await move(unit, stored, "route", at), mayBeSent: true };
    });
    return routed.mayBeSent ? send(routed.stored, exitsPass) : routed.stored;
  }

  async function inquire(known: StoredOrder): Promise<StepOutcome> {
    const status = await brokerOf(ports, known.order.broker).order(known.order.order_id);
    if (status !== undefined) return take(known, status);
    if (millisecondsBetween(known.updatedAt, clock.now()) < underWayMs) return "later";
    return sendAgain(known);
  }

  async function sendAgain(known: StoredOrder): Promise<StepOutcome> {
    const exitsPass = await exitsPassHalts(known);
    const again = await store.transact("oms.resend", async (unit) => {
      const stored = await lock(unit, known);
      if (stored.state !== "ROUTED" && stored.state !== "UNKNOWN") return { stored, mayBeSent: false };
      const denial = await refusal(unit, stored, exitsPass);
      const at = clock.now();
      if (denial !== undefined) return { stored: await move(unit, stored, "refuse", at, denial), mayBeSent: false };
      return { stored: await move(unit, stored, "route", at), mayBeSent: true };
    });
    return again.mayBeSent ? send(again.stored, exitsPass) : again.stored;
  }

  async function send(stored: StoredOrder, exitsPass: boolean): Promise<StepOutcome> {
    const { order, decision, releasedThrough } = stored;
    if (decision === undefined) throw new Defect(`the order ${order.order_id} has no approval to be sent with`);
    const halts = haltsHeard();
    const terms = { order, decision, exitsPassHalts: exitsPass, releasedThrough };
    const late = whyNotSend({ ...terms, halts, at: clock.now() });
    if (late !== undefined) return withdraw(stored, late);
    try {
      return await take(stored, await brokerOf(ports, order.broker).submit(brokerOrderOf(stored)));
    } catch (thrown) {
      if (!isSilence(thrown)) throw thrown;
      return lost(stored, messageOf(thrown));
    }
  }

  /** Nobody else sends, and this has not been sent. */
  function withdraw(known: StoredOrder, denial: Denial): Promise<StoredOrder> {
    return store.transact("oms.withdraw", async (unit) =>
      move(unit, await lock(unit, known), "refuse", clock.now(), denial),
    );
  }

  async function lost(known: StoredOrder, why: string): Promise<StoredOrder> {
    return store.transact("oms.unknown", async (unit) => {
      const stored = await lock(unit, known);
      const at = clock.now();
      const moved = await move(unit, stored, "lose", at);
      const { order_id: orderId, fund_id: fundId, broker } = stored.order;
      const sentence = `The broker ${broker} did not say what became of order ${orderId} of ${fundId}: ${why}`;
      if (moved !== stored) await alarm(unit, "ORDER_FATE_UNKNOWN", orderId, sentence, at);
      return moved;
    });
  }

  async function take(known: StoredOrder, status: Parameters<typeof learn>[2]): Promise<StepOutcome> {
    const learnt = await store.transact("oms.learn", async (unit) => {
      const stored = await lock(unit, known);
      return learn(unit, stored, status, clock.now());
    });
    if (hasUnreported(learnt, status)) bells.reports(known.order.broker);
    // The broker has it, and yet nothing moved: somebody else is quicker, or it shall be cancelled.
    return learnt.state === known.state ? "later" : learnt;
  }

  return { route, inquire };
}

export async function lock(unit: UnitOfWork, { order }: StoredOrder): Promise<StoredOrder> {
  const stored = await unit.oms.lockOrder(order.order_id);
  if (stored === undefined) throw new Defect(`the order ${order.order_id} is gone`);
  return stored;
}

function brokerOrderOf({ order }: StoredOrder): BrokerOrder {
  return {
    clientOrderId: order.order_id,
    account: order.fund_id,
    symbol: order.symbol,
    side: order.side,
    quantity: decimal.parse(order.quantity),
    orderType: order.order_type,
    ...(order.limit_price !== undefined && { limitPrice: decimal.parse(order.limit_price) }),
    ...(order.stop_price !== undefined && { stopPrice: decimal.parse(order.stop_price) }),
    tif: order.tif,
    ...(order.expires_at !== undefined && { expiresAt: parse(order.expires_at) }),
    reduceOnly: order.reduce_only === true,
  };
}

// Exits that the platform's own order management asks for: stops, flattened funds, and whatever else it was handed with the mark.
import type { Denial } from "../../contracts/src/codes.ts";
import type { Order } from "../../contracts/src/generated/svc/v1/order.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import { type Asker, awaitRoom, roomHeld } from "../orders/waiting-exits.ts";
import type { FundView } from "../state/view.ts";
import type { CheckUndo } from "./decision.ts";
import type { EngineState } from "./state.ts";

/** An exit that order management sends as soon as it is approved: it is approved before what others may send. */
export function isPlatformExit({ reduce_only: isMarked }: Order, { isPlatform }: Asker): boolean {
  return isPlatform && isMarked === true;
}

/** Names that order management lets nobody give but the platform: exits that follow the fund's positions, whichever strategy they name. */
const fundsOwn = ["stop-", "flatten-"] as const;

/** It waits for no other exit; one of a stop or of a flattened fund is proven against the fund alone. */
export function readPlatformExit(view: FundView, order: Order, asker: Asker): void {
  if (!isPlatformExit(order, asker)) return;
  view.exitWaits = undefined;
  view.closesForFund = fundsOwn.some((beginning) => order.order_id.startsWith(beginning));
}

/** A denied exit of the platform says who holds what it needs; while unsent approvals do, it waits, and nobody else is approved before it. */
export function withHolders(state: EngineState, order: Order, denial: Denial, undo: CheckUndo, at: Instant): Denial {
  const { view, found, orders, waitingExits } = state;
  const { direction } = view.terms;
  const isUnproven = denial.code === "SCHEMA_REDUCE_ONLY_UNPROVEN" || denial.code === "STRATEGY_REDUCTION_UNPROVEN";
  if (!isUnproven || direction === 0 || found.fund === undefined || found.book === undefined) return denial;
  const held = roomHeld(orders, found.fund, found.book, direction, found.open, at);
  if (held === undefined) return denial;
  const reason = `${denial.reason.replace(/\.$/, "")}; what it needs is held by ${held.words}`;
  if (!held.byUnsent) return { ...denial, reason: `${reason}.` };
  if (order.dry_run !== true) {
    const exit = { orderId: order.order_id, fundId: found.fund.id, symbol: found.book.symbol, direction };
    undo.waiting = awaitRoom(waitingExits, exit, at);
  }
  return {
    ...denial,
    reason: `${reason}; it goes before everybody else as soon as that is sent, has run out or is released.`,
  };
}

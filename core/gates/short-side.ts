// Gate 6: whether the side fits the position, and the short that could result. Where sides are strict (EQUITY and OPTION, unless the envelope
// says otherwise) an order does what its side says: SELL and BUY_TO_COVER only close, SELL_SHORT closes nothing, BUY closes or opens and never
// both. Elsewhere the word does not matter: a plain sale that goes through zero after every other pending sale is a short sale, and is judged as one.
// A marked exit closes what its own strategy holds: what another strategy of the fund holds is not its to sell. Exits of stops and of a flattened
// fund follow the fund's position.

import type { Denial, DenialCode } from "../../contracts/src/codes.ts";
import type { Order } from "../../contracts/src/generated/svc/v1/order.ts";
import {
  type Amount,
  isMore,
  isNegative,
  isNothing,
  isPositive,
  minus,
  negated,
  nothing,
  oneUnit,
  plus,
  timesUp,
} from "../money/amount.ts";
import { product } from "../money/exact.ts";
import { openQuantityMax, ownClosable } from "../orders/classify.ts";
import type { Gate, Notes } from "../state/gate.ts";
import { assured, isFresh, isMarkedExit, isNewRisk } from "../state/new-risk.ts";
import type { FundView } from "../state/view.ts";
import { amount, percent, quoted, seconds } from "../state/wording.ts";
import { shortOptionDenial } from "./restricted.ts";

export const shortSide: Gate = {
  name: "short_side",
  question:
    "Does the side fit the position, and if a short could result, is it allowed, and can it be borrowed at an acceptable fee?",
  phase: "risk",
  inputs: ["borrow"],
  decide(order, view, _at, notes) {
    const short = resultingShort(view);
    notes.decimal("resulting_short", short);
    if (view.exitWaits !== undefined && view.lowers !== true) return waitingDenial(view.exitWaits, order, view, notes);
    const misfit = misfitOf(order.side, view);
    if (misfit !== undefined) return sideDenial(misfit, order, view, notes);
    if (isMarkedExit(order, view) && !view.reducesStrategy && view.closesForFund !== true && view.lowers !== true)
      return ownDenial(order, view, notes);
    if (view.terms.direction === 1 || !isNewRisk(view) || isNothing(short)) return undefined;

    const envelope = assured(view.envelope, "an envelope");
    if (!envelope.shortingEnabled) {
      notes.word("shorting", "disabled");
      return {
        code: "SHORTING_DISABLED",
        reason: `The order could leave ${amount(short)} ${quoted(order.symbol)} short.`,
      };
    }
    const blocked = shortOptionDenial(order, view, notes);
    if (blocked !== undefined) return blocked;
    const needed = borrowed(view, short);
    if (isNothing(needed)) return undefined;
    const symbol = view.option?.underlying ?? order.symbol;
    if (view.option !== undefined) notes.decimal("deliverable", needed);

    const { borrowAvailable: available, borrowFee: fee, borrowAgeMs: ageMs } = view;
    if (available === undefined || fee === undefined) {
      return { code: "BORROW_MISSING", reason: `Nothing is known about borrowing ${quoted(symbol)}.` };
    }
    notes.decimal("borrow_available", available, ageMs);
    notes.decimal("borrow_fee", fee, ageMs);
    if (isPositive(fee)) {
      notes.share("max_borrow_fee_pct", product(fee, oneUnit), product(envelope.maxBorrowFee, oneUnit));
    }
    return borrowDenial(symbol, view, { short: needed, available, fee, feeMax: envelope.maxBorrowFee });
  },
};

/**
 * How much of what is sold has to be borrowed. A contract is written, not borrowed; what an assigned call has to deliver beyond the shares that the fund
 * holds is. Shares that are sold short come on top of what calls on them could have to deliver.
 */
function borrowed({ instrument, option }: FundView, short: Amount): Amount {
  const isOption = instrument?.assetClass === "OPTION";
  if (option === undefined || instrument === undefined) return isOption ? nothing : short;
  if (!isOption) return plus(short, option.owedOthers);
  if (option.isCall !== true) return nothing;
  const left = minus(plus(option.owedOthers, timesUp(short, instrument.multiplier)), option.cover);
  return isPositive(left) ? left : nothing;
}

/** The platform's exit was there first, and what others got and did not send must run out before it can be proven. */
function waitingDenial(exitId: string, order: Order, view: FundView, notes: Notes): Denial {
  notes.word("waiting_exit", exitId);
  const verb = view.terms.direction === 1 ? "buy" : "sell";
  const what = `The platform's exit ${quoted(exitId)} waits for room to ${verb} ${quoted(order.symbol)}`;
  const reason = `${what}, which approvals that were not sent hold: nothing else may ${verb} it before that exit.`;
  return { code: "EXIT_HAS_PRIORITY", reason };
}

type Misfit = "COVER_EXCEEDS_SHORT" | "SELL_EXCEEDS_LONG" | "SHORT_WHILE_LONG" | "BUY_CROSSES_ZERO";

const advice: Readonly<Record<Misfit, string>> = {
  COVER_EXCEEDS_SHORT: "BUY_TO_COVER may close only what is short, now at most",
  SELL_EXCEEDS_LONG: "SELL may close only what is long (a short sale is a SELL_SHORT), now at most",
  SHORT_WHILE_LONG: "SELL_SHORT closes nothing while the fund is long, close with SELL first, of this order",
  BUY_CROSSES_ZERO: "BUY may not cross zero, it closes at most",
};

/** Whether a denial is about the side, and so about how much of the order would pass. */
export function isMisfit(code: DenialCode): boolean {
  return code === "EXIT_EXCEEDS_STRATEGY" || Object.hasOwn(advice, code);
}

/** How the side contradicts the position; undefined when it does not, or need not fit. What only lowers an open order opens nothing. */
function misfitOf(side: string, view: FundView): Misfit | undefined {
  if (view.envelope?.strictSides !== true || view.instrument?.assetClass === "CRYPTO") return undefined;
  if (view.lowers === true) return undefined;
  // Closing is counted after every other order that may close first, as it is for the proof of a reduction.
  switch (side) {
    case "BUY":
      return isNegative(view.position) && !isNothing(view.openingQuantity) ? "BUY_CROSSES_ZERO" : undefined;
    case "SELL":
      return isNothing(view.openingQuantity) ? undefined : "SELL_EXCEEDS_LONG";
    case "BUY_TO_COVER":
      return isNothing(view.openingQuantity) ? undefined : "COVER_EXCEEDS_SHORT";
    default:
      return isPositive(view.position) ? "SHORT_WHILE_LONG" : undefined;
  }
}

function sideDenial(code: Misfit, order: Order, view: FundView, notes: Notes): Denial {
  const buys = view.terms.direction === 1;
  const pending = buys ? view.pendingBuy : view.pendingSell;
  notes.word("sides", "strict");
  notes.decimal("position", view.position);
  notes.decimal(buys ? "pending_buy" : "pending_sell", pending);
  notes.decimal("closing_quantity", view.closingQuantity);
  const others = isNothing(pending) ? "" : `, and other open orders may ${buys ? "buy" : "sell"} ${amount(pending)}`;
  const held = `The fund holds ${amount(view.position)} ${quoted(order.symbol)}${others}`;
  return { code, reason: `${held}; ${advice[code]} ${amount(view.closingQuantity)}.` };
}

function ownDenial(order: Order, view: FundView, notes: Notes): Denial {
  const { strategyPosition, strategyPending } = view;
  const buys = view.terms.direction === 1;
  notes.decimal("strategy_position", strategyPosition);
  notes.decimal("strategy_pending", strategyPending);
  const verb = buys ? "buy back" : "sell";
  const others = isNothing(strategyPending)
    ? ""
    : `, of which its other open orders may ${verb} ${amount(strategyPending)}`;
  const held = `The strategy ${quoted(order.strategy_id)} holds ${amount(strategyPosition)} ${quoted(order.symbol)}${others}`;
  const most = amount(ownClosable(view, buys ? 1 : -1));
  return { code: "EXIT_EXCEEDS_STRATEGY", reason: `${held}; a marked exit of it may ${verb} at most ${most}.` };
}

interface Borrowing {
  readonly short: Amount;
  readonly available: Amount;
  readonly fee: Amount;
  readonly feeMax: Amount;
}

function borrowDenial(symbol: string, view: FundView, borrowing: Borrowing): Denial | undefined {
  const { short, available, fee, feeMax } = borrowing;
  if (!isFresh(view.borrowAgeMs, view.ages.borrow)) {
    const age = `${seconds(view.borrowAgeMs)} old; ${seconds(view.ages.borrow)} is the most`;
    return { code: "BORROW_STALE", reason: `What is known about borrowing ${quoted(symbol)} is ${age}.` };
  }
  if (isMore(short, available)) {
    const needed = `The order could leave ${amount(short)} ${quoted(symbol)} short`;
    return { code: "BORROW_UNAVAILABLE", reason: `${needed}, and ${amount(available)} can be borrowed.` };
  }
  if (isMore(fee, feeMax)) {
    const cost = `Borrowing ${quoted(symbol)} costs ${percent(fee)} a year`;
    return { code: "BORROW_FEE_EXCEEDED", reason: `${cost}; ${percent(feeMax)} is the most.` };
  }
  return undefined;
}

/** How far below zero the position could go if this order and every other pending sale fill, and no purchase does. */
function resultingShort(view: FundView): Amount {
  const own = view.terms.direction === -1 ? openQuantityMax(view) : nothing;
  const lowest = minus(minus(view.position, view.pendingSell), own);
  return isNegative(lowest) ? negated(lowest) : nothing;
}

// Gate 6: the short that could result. The word on the order does not matter: a plain sale that goes through zero after every other
// pending sale is a short sale, and is judged as one.

import type { Denial } from "../../contracts/src/codes.ts";
import { gateQuestions } from "../../contracts/src/gate-questions.ts";
import { type Amount, isMore, isNegative, isNothing, isPositive, minus, negated, nothing, oneUnit } from "../amount.ts";
import { openQuantityMax } from "../classify.ts";
import { product } from "../exact.ts";
import type { FundView } from "../view.ts";
import { amount, percent, quoted, seconds } from "../wording.ts";
import type { Gate } from "./gate.ts";
import { assured, isFresh, isNewRisk } from "./new-risk.ts";

export const shortSide: Gate = {
  name: "short_side",
  question: gateQuestions.short_side,
  inputs: ["borrow"],
  decide(order, view, _at, notes) {
    const short = resultingShort(view);
    notes.decimal("resulting_short", short);
    if (view.terms.direction === 1 || !isNewRisk(view) || isNothing(short)) return undefined;

    const envelope = assured(view.envelope, "an envelope");
    if (!envelope.shortingEnabled) {
      notes.word("shorting", "disabled");
      return {
        code: "SHORTING_DISABLED",
        reason: `The order could leave ${amount(short)} ${quoted(order.symbol)} short.`,
      };
    }
    // A contract is written, not borrowed.
    if (view.instrument?.assetClass === "OPTION") return undefined;

    const { borrowAvailable: available, borrowFee: fee, borrowAgeMs: ageMs } = view;
    if (available === undefined || fee === undefined) {
      return { code: "BORROW_MISSING", reason: `Nothing is known about borrowing ${quoted(order.symbol)}.` };
    }
    notes.decimal("borrow_available", available, ageMs);
    notes.decimal("borrow_fee", fee, ageMs);
    if (isPositive(fee)) {
      notes.share("max_borrow_fee_pct", product(fee, oneUnit), product(envelope.maxBorrowFee, oneUnit));
    }
    return borrowDenial(order.symbol, view, { short, available, fee, feeMax: envelope.maxBorrowFee });
  },
};

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

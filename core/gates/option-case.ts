// What a fund could reach with an order in an option: gross and by sector as with any symbol, net by the signed delta; and what it could lose in
// the stress.

import { lineLosses, noLosses, plusLosses, worstLoss } from "../exposure/option-stress.ts";
import { endsOf } from "../exposure/option-sums.ts";
import type { WorstCase } from "../exposure/plain-exposure.ts";
import type { Amount } from "../money/amount.ts";
import * as amounts from "../money/amount.ts";
import type { Exact, Notional } from "../money/exact.ts";
import * as exact from "../money/exact.ts";
import { openQuantityMax } from "../orders/classify.ts";
import type { FundView, OptionView } from "../state/view.ts";

/** Undefined for an order in anything but an option. The order adds `own` to one end of its line. */
export function optionCase(view: FundView, own: Notional, unitValue: Amount): WorstCase | undefined {
  const netValue = view.option?.netValue;
  if (netValue === undefined) return undefined;
  const buys = view.terms.direction === 1;
  const { position: held, pendingBuy, pendingSell } = view;
  let high = exact.product(amounts.plus(held, pendingBuy), unitValue);
  let low = exact.product(amounts.minus(held, pendingSell), unitValue);
  if (buys) high = exact.plus(high, own);
  else low = exact.minus(low, own);
  const position = exact.larger(exact.magnitude(high), exact.magnitude(low));
  const added = openQuantityMax(view);
  const allBuys = buys ? amounts.plus(pendingBuy, added) : pendingBuy;
  const allSells = buys ? pendingSell : amounts.plus(pendingSell, added);
  const ends = endsOf(held, allBuys, allSells, netValue);
  const netHigh = exact.magnitude(exact.plus(view.netHighOthers, ends.high));
  const netLow = exact.magnitude(exact.plus(view.netLowOthers, ends.low));
  return {
    position,
    gross: exact.plus(view.grossOthers, position),
    net: exact.larger(netHigh, netLow),
    inSector: exact.plus(view.sectorOthers, position),
  };
}

interface StressLosses {
  /** Without the order, and with it. */
  readonly before: Exact;
  readonly after: Exact;
}

/** What the fund's options and their underlyings lose in the stress, with so much more in the order's direction. */
export function stressLosses(view: FundView, option: OptionView, added: Amount): StressLosses {
  const { position, pendingBuy, pendingSell, terms } = view;
  const unit = option.unitStress;
  const total = (buys: Amount, sells: Amount): Exact => {
    const own = unit === undefined ? noLosses : lineLosses(position, buys, sells, unit);
    return (option.stressRest + worstLoss(plusLosses(option.lossesOthers, own))) as Exact;
  };
  const isBuy = terms.direction === 1;
  return {
    before: total(pendingBuy, pendingSell),
    after: total(
      isBuy ? amounts.plus(pendingBuy, added) : pendingBuy,
      isBuy ? pendingSell : amounts.plus(pendingSell, added),
    ),
  };
}

// Why new risk waits because nobody vouches for a figure, or is named to: codes of the gates static and position_risk.
import { denial } from "./shape.ts";

/** Of the gate static. */
export const ownershipDenials = {
  VALUER_MISSING: denial(
    "The fund is LIVE and its reference data names no source of its values (valued_by): none counts, and no new risk is taken until it names one.",
  ),
} as const;

export const vouchingDenials = {
  FILL_NOT_ACCEPTED: denial(
    "A fill was booked beyond the collar of the mark or beyond its order, or events of a foreign publisher are missing, and no operator has accepted it: no new risk is taken in the symbol, or in the fund.",
  ),
  ORDER_NOT_VOUCHED: denial(
    "A foreign program published a fill of an order that was never asked about: no new risk is taken in the symbol until an operator accepts the fill.",
  ),
  FEE_NOT_VOUCHED: denial(
    "A fill was booked with a fee that no ordinary trade has: no new risk is taken in the symbol until an operator accepts the fill.",
  ),
  FILL_DATE_NOT_VOUCHED: denial(
    "A fill was booked with a date that its trade cannot have: no new risk is taken in the symbol until an operator accepts the fill.",
  ),
  CROSS_NOT_VOUCHED: denial(
    "One leg of a foreign cross was booked without the other: no new risk is taken in the symbol until it comes or an operator accepts the leg.",
  ),
  FILL_KIND_NOT_VOUCHED: denial(
    "A foreign program published a fill that is no trade, and nothing of ours vouches for it: no new risk is taken in the symbol until an operator accepts it.",
  ),
  VALUE_NOT_VOUCHED: denial(
    "The fund's newest value is not explained by the last one that somebody vouched for, with our own positions, fills and prices since: no new risk is taken in the fund until one is, or an operator accepts it.",
  ),
  PRICE_NOT_VOUCHED: denial(
    "The symbol's price moved further at once than prices move, or its sources differ: no new risk is taken in it until the price is confirmed, within seconds.",
  ),
} as const;

// Whether an alert was missed: the position that the chart had before this one, held against ours.
import * as decimal from "../../contracts/src/decimal.ts";
import type { AlertFields } from "./alert-fields.ts";

type Before = Pick<AlertFields, "prev_market_position" | "prev_market_position_size">;

export interface PositionMismatch {
  /** What the alert says, in words for people. */
  readonly said: string;
  /** What our books have, signals under way counted. */
  readonly ours: string;
}

/** `ours` is negative when short, and counts what is under way. Undefined when both agree, or the alert does not say. */
export function positionMismatch(before: Before, ours: decimal.Decimal): PositionMismatch | undefined {
  const { prev_market_position: position, prev_market_position_size: sizeText } = before;
  if (position === undefined && sizeText === undefined) return undefined;
  const size = sizeText === undefined ? undefined : decimal.parse(sizeText);
  if (agrees(position, size, ours)) return undefined;
  const said = [position?.toLowerCase(), sizeText].filter((part) => part !== undefined).join(" ");
  return { said, ours: decimal.format(ours) };
}

function agrees(
  position: Before["prev_market_position"],
  size: decimal.Decimal | undefined,
  ours: decimal.Decimal,
): boolean {
  const sign = decimal.sign(ours);
  if (position !== undefined && sign !== { LONG: 1, SHORT: -1, FLAT: 0 }[position]) return false;
  return size === undefined || decimal.compare(decimal.abs(ours), size) === 0;
}

/** What an order does to a position when all of it trades. */
export function signedQuantity(side: AlertFields["side"], quantity: decimal.Decimal): decimal.Decimal {
  return side === "BUY" || side === "BUY_TO_COVER" ? quantity : decimal.negate(quantity);
}

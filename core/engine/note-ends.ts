// A denial that counted the worse end of a limit notes both ends and the cause, as figures of its gate: what the sentence names is the worse one. It is only shown.
import type { DenialCode } from "../../contracts/src/codes.ts";
import type { Envelope } from "../envelope/envelope.ts";
import type { Amount } from "../money/amount.ts";
import { isMore, type Notional } from "../money/exact.ts";
import type { FundView } from "../state/view.ts";
import { limitsInForce } from "./limits-in-force.ts";
import { otherEndOf } from "./other-end.ts";
import type { EngineState } from "./state.ts";

/** The envelope's field for every code that counts what is open at its worse end; a sector's has the sector behind it. */
const fieldsByCode: ReadonlyMap<DenialCode, string> = new Map([
  ["POSITION_LIMIT_EXCEEDED", "max_position_pct"],
  ["GROSS_EXPOSURE_EXCEEDED", "max_gross_exposure_pct"],
  ["GROSS_EXPOSURE_REDUCED", "max_gross_exposure_pct"],
  ["NET_EXPOSURE_EXCEEDED", "max_net_exposure_pct"],
  ["SECTOR_LIMIT_EXCEEDED", "sector_limits_pct"],
  ["STRESS_LOSS_EXCEEDED", "max_stress_loss_pct"],
]);

/** Of the gate that has just denied. Without the order: `used_worst` beside `used_least`, `allowed` beside `allowed_most`, and what is `open`. */
export function noteEnds(state: EngineState, code: DenialCode): void {
  const field = fieldsByCode.get(code);
  const { view, notes, found, books } = state;
  const { fund } = found;
  const { envelope } = view;
  if (field === undefined || fund === undefined || envelope === undefined || !mayBeOpen(state)) return;
  const limit = limitsInForce(view, envelope).find((one) => one.field.split(".")[0] === field);
  const other = otherEndOf(books, fund);
  if (limit === undefined || other === undefined) return;
  // What an amendment holds is left out of the view, and would be in the other end.
  const least = view.amends ? undefined : other.least(limit.field, limit.scope);
  const isLess = least !== undefined && isMore(limit.used, least);
  const most = other.nav === undefined ? undefined : allowedAt(view, envelope, limit.field, other.nav);
  const isHigher = most !== undefined && isMore(most, limit.allowed);
  if (!isLess && !isHigher) return;
  notes.exact("used_worst", limit.used);
  if (isLess) notes.exact("used_least", least);
  notes.exact("allowed", limit.allowed);
  if (isHigher) notes.exact("allowed_most", most);
  notes.word("open", other.cause(limit.field, limit.scope));
  notes.extend();
}

function allowedAt(view: FundView, envelope: Envelope, field: string, nav: Amount): Notional | undefined {
  return limitsInForce({ ...view, nav }, envelope).find((one) => one.field === field)?.allowed;
}

/** Cheap, because it is asked with every denial: where nothing is open nobody looks further. */
function mayBeOpen({ found: { fund }, prices, rates }: EngineState): boolean {
  return fund?.doubts !== undefined || fund?.navMost !== undefined || prices.open.size > 0 || rates.open.size > 0;
}

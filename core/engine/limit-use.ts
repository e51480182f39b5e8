// How much of every limit of a fund is used: its exposure limits as headroom counts them, symbol by symbol, and its loss limits as the list of losses
// has them. Nothing is counted here a second time; only shares and bands are made, and what several symbols say of one limit is reported once.
//
// Invariants (limit-use.test.ts names them):
//  1. Every limit of the envelope and every loss limit that is on has a row. What cannot be counted has a reason, and the band 100.
//  2. `used` and `allowed` are those of headroom and of the list of losses, letter by letter.
//  3. The band is the highest that the share has reached, exactly; a limit of zero is used up.
//  4. While something of the fund is open a row has the other end as well, and the cause: `used` and `allowed` are the worse one. A row whose ends are one has neither.
import type { Decimal } from "../../contracts/src/decimal.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import type { LimitUse, Loss } from "../../contracts/src/generated/svc/v1/riskengine.ts";
import * as instant from "../../contracts/src/instant.ts";
import type { Envelope } from "../envelope/envelope.ts";
import { navOf } from "../exposure/nav-limits.ts";
import * as amounts from "../money/amount.ts";
import { isMore, type Notional, product, zeroNotional } from "../money/exact.ts";
import type { FundView } from "../state/view.ts";
import { centsDown, centsUp, imagine, limitsInForce } from "./limits-in-force.ts";
import { lossCause, type OtherEnd, otherEndOf } from "./other-end.ts";
import type { EngineState } from "./state.ts";

const bands = [100n, 95n, 90n, 85n, 75n, 50n];
const shareDigits = 1_000_000n;

/** What these symbols of a fund use of its exposure limits; a symbol counts for several of them. */
export function exposureUse(
  state: EngineState,
  fundId: string,
  symbols: readonly string[],
  askedAt: instant.Instant,
): readonly LimitUse[] {
  const fund = state.books.funds.get(fundId);
  const other = fund === undefined ? undefined : otherEndOf(state.books, fund);
  return symbols.flatMap((symbol) => {
    const { at } = imagine(state, { fundId, symbol, side: "BUY" }, askedAt);
    const { envelope } = state.view;
    const row = { fund_id: fundId, limit: "max_position_pct", scope: symbol, as_of: instant.format(at) };
    const limits = envelope === undefined ? [] : limitsInForce(state.view, envelope);
    if (limits.length === 0) return [uncounted(row, whyUncounted(state.view))];
    const most = other?.nav === undefined || envelope === undefined ? [] : atValue(state.view, envelope, other.nav);
    return limits.map(({ field, scope, used, allowed }, index) => ({
      ...counted({ ...row, limit: field, scope }, centsUp(used), centsDown(allowed)),
      ...endsOf(other, { field, scope, used, allowed, most: most[index]?.allowed }),
    }));
  });
}

/** The same limits if the fund were worth that much. */
function atValue(view: FundView, envelope: Envelope, nav: amounts.Amount): ReturnType<typeof limitsInForce> {
  return limitsInForce({ ...view, nav }, envelope);
}

interface Judged {
  readonly field: string;
  readonly scope: string;
  readonly used: Notional;
  readonly allowed: Notional;
  /** If the fund is worth the most that it may be. */
  readonly most: Notional | undefined;
}

/** Invariant 4. */
function endsOf(
  other: OtherEnd | undefined,
  { field, scope, used, allowed, most }: Judged,
): Pick<LimitUse, "used_least" | "allowed_most" | "cause"> {
  if (other === undefined) return {};
  const least = other.least(field, scope);
  const isLess = least !== undefined && isMore(used, least);
  const isHigher = most !== undefined && isMore(most, allowed);
  if (!isLess && !isHigher) return {};
  return {
    ...(isLess && { used_least: centsDown(least) }),
    ...(isHigher && { allowed_most: centsDown(most) }),
    cause: other.cause(field, scope),
  };
}

function whyUncounted({ envelope, nav, price, fxRate }: FundView): string {
  if (envelope === undefined) return "ENVELOPE_MISSING";
  if (nav === undefined) return "NAV_MISSING";
  if (!amounts.isPositive(nav)) return "NAV_NOT_POSITIVE";
  return price !== undefined && fxRate === undefined ? "FX_RATE_MISSING" : "MARK_MISSING";
}

/** Every limit of the fund's envelope with nothing used of it; what its symbols use is reported instead where there is any. */
export function unusedLimits(state: EngineState, fundId: string, askedAt: instant.Instant): readonly LimitUse[] {
  const fund = state.books.funds.get(fundId);
  const envelope = fund?.envelope;
  const nav = fund === undefined ? undefined : navOf(fund);
  const as_of = instant.format(askedAt > state.lastAt ? askedAt : state.lastAt);
  if (envelope === undefined || nav === undefined || !amounts.isPositive(nav)) {
    const reason = envelope === undefined ? "ENVELOPE_MISSING" : nav === undefined ? "NAV_MISSING" : "NAV_NOT_POSITIVE";
    return [uncounted({ fund_id: fundId, limit: "max_gross_exposure_pct", scope: "", as_of }, reason)];
  }
  const isHolding = fund !== undefined && fund.count > 0;
  const other = fund === undefined ? undefined : otherEndOf(state.books, fund);
  const most = other?.nav === undefined ? [] : fundLimits(envelope, other.nav);
  return fundLimits(envelope, nav).flatMap(([limit, scope, allowed], index) => {
    if (limit === "max_position_pct" && isHolding) return [];
    const judged = { field: limit, scope, used: zeroNotional, allowed, most: most[index]?.[2] };
    const row = { fund_id: fundId, limit, scope, as_of };
    return [{ ...counted(row, centsUp(zeroNotional), centsDown(allowed)), ...endsOf(other, judged) }];
  });
}

function fundLimits(envelope: Envelope, nav: amounts.Amount): readonly (readonly [string, string, Notional])[] {
  const { maxNotional, maxPosition, maxGrossExposure, maxNetExposure, maxStressLoss, sectorLimits } = envelope;
  return [
    // Of each position; of none when nothing is held.
    ["max_position_pct", "", product(maxPosition, nav)],
    ["max_notional", "", product(maxNotional, decimal.one)],
    ["max_gross_exposure_pct", "", product(maxGrossExposure, nav)],
    ["max_net_exposure_pct", "", product(maxNetExposure, nav)],
    ...[...sectorLimits].map(
      ([sector, limit]) => [`sector_limits_pct.${sector}`, sector, product(limit, nav)] as const,
    ),
    ...(maxStressLoss === undefined ? [] : [["max_stress_loss_pct", "", product(maxStressLoss, nav)] as const]),
  ];
}

/** What a loss uses of its limit; none when that is off. `least` is what it is by the better end of the fund's value, where that has two. */
export function lossUse(loss: Loss, asOf: instant.Instant, least?: Decimal): readonly LimitUse[] {
  const { fund_id, limit, strategy_id, limit_loss, reason } = loss;
  const row = { fund_id, limit, scope: strategy_id ?? "", as_of: loss.as_of ?? instant.format(asOf) };
  if (loss.state === "NOT_JUDGED") return [uncounted(row, reason ?? "")];
  if (limit_loss === undefined || loss.loss === undefined) return [];
  const isLess = least !== undefined && least < decimal.parse(loss.loss);
  const ends = isLess ? { used_least: decimal.format(least), cause: lossCause } : {};
  return [{ ...counted(row, loss.loss, limit_loss), ...ends }];
}

/** Each limit once, with the most that any row says of it; what cannot be counted first, then the most used. */
export function inOrder(rows: readonly LimitUse[]): readonly LimitUse[] {
  const most = new Map<string, LimitUse>();
  for (const row of rows) {
    const key = [row.fund_id, row.limit, row.scope].join("\n");
    const known = most.get(key);
    if (known === undefined || rankOf(row) > rankOf(known)) most.set(key, row);
  }
  const nameOf = ({ fund_id, limit, scope }: LimitUse): string => [fund_id, limit, scope].join("\n");
  return [...most.values()].sort((one, other) => rankOf(other) - rankOf(one) || (nameOf(one) < nameOf(other) ? -1 : 1));
}

function rankOf({ share }: LimitUse): number {
  return share ?? Number.POSITIVE_INFINITY;
}

type Named = Pick<LimitUse, "fund_id" | "limit" | "scope" | "as_of">;

function counted(row: Named, used: string, allowed: string): LimitUse {
  const [part, whole] = [decimal.parse(used), decimal.parse(allowed)];
  return { ...row, used, allowed, share: shareOf(part, whole), band: bandOf(part, whole) };
}

function shareOf(part: Decimal, whole: Decimal): number {
  return whole <= 0n ? 1 : Number((part * shareDigits) / whole) / Number(shareDigits);
}

function bandOf(part: Decimal, whole: Decimal): number {
  if (whole <= 0n) return 100;
  return Number(bands.find((band) => part * 100n >= whole * band) ?? 0n);
}

function uncounted(row: Named, reason: string): LimitUse {
  return { ...row, reason, band: 100 };
}

// What strangers see of a fund. A paper fund shows everything; of every other only what its policy names, so that a fund nobody wrote a policy for
// shows neither its value nor its exposure. A mode that is not known counts as LIVE.
import type { FundStatus } from "../../../contracts/src/generated/svc/v1/market.ts";
import { type Instant, millisecondsBetween, tryParse } from "../../../contracts/src/instant.ts";

export interface FundPolicy {
  readonly listed?: boolean | undefined;
  readonly nav?: "live" | "delayed" | "hidden" | undefined;
  /** Of a delayed value. */
  readonly navDelayS: number;
  readonly exposure?: boolean | undefined;
}

/** By fund; a fund that is not here has none. */
export type FundPolicies = ReadonlyMap<string, FundPolicy>;

interface Shown {
  readonly listed: boolean;
  readonly nav: "live" | "delayed" | "hidden";
  readonly navDelayS: number;
  readonly exposure: boolean;
}

/** A value that was true some time ago. */
export interface PastNav {
  readonly nav: string;
  readonly nav_at: string;
}

export function shownOf(policies: FundPolicies, { fund_id, mode }: Pick<FundStatus, "fund_id" | "mode">): Shown {
  const policy = policies.get(fund_id);
  const isPaper = mode === "PAPER";
  return {
    listed: policy?.listed ?? true,
    nav: policy?.nav ?? (isPaper ? "live" : "hidden"),
    navDelayS: policy?.navDelayS ?? 0,
    exposure: policy?.exposure ?? isPaper,
  };
}

/** Undefined for a fund that is not listed. `past` is the newest value that is old enough, for a delayed one. */
export function publicFund(
  fund: FundStatus,
  policies: FundPolicies,
  past: PastNav | undefined,
  now: Instant,
): object | undefined {
  const shown = shownOf(policies, fund);
  if (!shown.listed) return undefined;
  const { fund_id, name, mode, currency, halted, severity } = fund;
  return {
    fund_id,
    name,
    mode,
    currency,
    ...navOf(fund, shown, past, now),
    ...(shown.exposure && {
      gross_exposure_pct: fund.gross_exposure_pct,
      net_exposure_pct: fund.net_exposure_pct,
    }),
    halted,
    severity,
  };
}

function navOf(fund: FundStatus, shown: Shown, past: PastNav | undefined, now: Instant): object {
  if (shown.nav === "live") {
    const { nav, nav_at, oldest_price_age_ms, day_pnl } = fund;
    // A fund that was never valued is worth nothing since the beginning of time on the wire, and has no value here.
    return (tryParse(nav_at) ?? 0) === 0 ? {} : { nav, nav_at, oldest_price_age_ms, day_pnl };
  }
  const at = past === undefined ? undefined : tryParse(past.nav_at);
  const isOldEnough = at !== undefined && millisecondsBetween(at, now) >= shown.navDelayS * 1_000;
  return shown.nav === "delayed" && isOldEnough ? { ...past } : {};
}

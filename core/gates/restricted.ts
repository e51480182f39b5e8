// What watchdogs keep from being done, as the gates say it: every denial names the watchdog and its episode, and so do the noted inputs. New risk only;
// a reduction passes every restriction.
import type { Denial } from "../../contracts/src/codes.ts";
import type { Order } from "../../contracts/src/generated/svc/v1/order.ts";
import { isMore } from "../money/amount.ts";
import type { Notional } from "../money/exact.ts";
import * as exact from "../money/exact.ts";
import type { Notes } from "../state/gate.ts";
import type { FundView, RestrictedBy } from "../state/view.ts";
import { money, quoted } from "../state/wording.ts";

const saidBy = ({ watchdog, episodeId }: RestrictedBy): string => `${watchdog} in episode ${episodeId}`;

function note(notes: Notes, { watchdog, episodeId, restrictionId }: RestrictedBy): void {
  notes.word("watchdog", watchdog);
  notes.word("episode_id", episodeId);
  notes.word("restriction_id", restrictionId);
}

/** Of the symbol and the strategy. */
export function restrictedDenial(order: Order, view: FundView, notes: Notes): Denial | undefined {
  const { restrictions } = view;
  if (restrictions === undefined) return undefined;
  const { isUnknown, shadow, cooldown, throttle } = restrictions;
  if (isUnknown) {
    notes.word("restrictions", "unknown");
    // Where the halts are not known either, drawdown_halt denies new risk and says the graver of the two.
    if (!view.haltsKnown) return undefined;
    const reason = "Which restrictions of watchdogs are in force is not known, and the order adds risk.";
    return { code: "RESTRICTIONS_UNKNOWN", reason };
  }
  if (shadow !== undefined) {
    note(notes, shadow);
    const reason = `Strategy ${quoted(order.strategy_id)} is shadowed by ${saidBy(shadow)}: only reductions pass.`;
    return { code: "STRATEGY_SHADOWED", reason };
  }
  if (cooldown !== undefined) {
    note(notes, cooldown);
    const reason = `${quoted(order.symbol)} cools down by ${saidBy(cooldown)}: no new risk in it.`;
    return { code: "NEWS_COOLDOWN", reason };
  }
  if (throttle === undefined) return undefined;
  note(notes, throttle);
  const passive = isPassive(order, view);
  notes.word("liquidity", passive ? "passive" : "marketable");
  if (passive) return undefined;
  const reason = `${quoted(order.symbol)} is throttled by ${saidBy(throttle)}: only passive LIMIT orders add risk in it.`;
  return { code: "AGGRESSIVE_THROTTLED", reason };
}

/**
 * Whether it can only wait for others: a LIMIT order that stays, on its own side of the market. A stop trades aggressively when it is let loose, and what
 * may not wait can do nothing else. Without a price nothing is known to be passive.
 */
export function isPassive(order: Order, { terms, bid, ask, price }: FundView): boolean {
  const { limitPrice, direction } = terms;
  if (order.order_type !== "LIMIT" || order.tif === "IOC" || order.tif === "FOK") return false;
  const opposite = direction === 1 ? (ask ?? price) : (bid ?? price);
  if (limitPrice === undefined || opposite === undefined) return false;
  return direction === 1 ? isMore(opposite, limitPrice) : isMore(limitPrice, opposite);
}

/** Of the gross exposure that could result. */
export function grossDenial(view: FundView, gross: Notional, notes: Notes): Denial | undefined {
  const by = view.restrictions?.gross;
  if (by?.allowed === undefined) return undefined;
  note(notes, by);
  notes.exact("gross_allowed", by.allowed);
  if (!exact.isMore(gross, by.allowed)) return undefined;
  const { fundCurrency } = view;
  const most = `${money(by.allowed, fundCurrency)} is the most by ${saidBy(by)}`;
  return {
    code: "GROSS_EXPOSURE_REDUCED",
    reason: `Gross exposure could reach ${money(gross, fundCurrency)}; ${most}.`,
  };
}

/** Of a sale that could leave an option short. */
export function shortOptionDenial(order: Order, view: FundView, notes: Notes): Denial | undefined {
  const by = view.restrictions?.noShortOptions;
  if (by === undefined || view.instrument?.assetClass !== "OPTION") return undefined;
  note(notes, by);
  const reason = `The order could leave ${quoted(order.symbol)} short, and ${saidBy(by)} lets no option be sold short.`;
  return { code: "SHORT_OPTIONS_BLOCKED", reason };
}

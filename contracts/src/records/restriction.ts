// A restriction is how a watchdog acts: one kind of thing that may not be done, in one scope, from the moment its episode opens it until the episode
// clears or a risk officer ends it. Reductions of risk pass every one of them.
import { z } from "zod";
import type { Decimal } from "../decimal.ts";
import type { Instant } from "../instant.ts";
import { idText, instantText, nameText, nonNegativeDecimalText, reasonText, symbolText } from "./fields.ts";
import { type WatchdogName, watchdogName } from "./values.ts";

/**
 * THROTTLE: no marketable order adds risk in the symbol. COOLDOWN: nothing adds risk in it. SHADOW: the strategy only reduces. NO_SHORT_OPTIONS: the
 * fund sells no options short. GROSS: the fund's gross exposure stays under factor x base. ALLOCATION: what strategies may use is multiplied by the factor.
 */
const restrictionKind = z.enum(["THROTTLE", "COOLDOWN", "SHADOW", "NO_SHORT_OPTIONS", "GROSS", "ALLOCATION"]);
export type RestrictionKind = z.infer<typeof restrictionKind>;

/** A symbol without a fund is restricted in every fund. */
export interface RestrictionScope {
  readonly fundId?: string;
  readonly strategyId?: string;
  readonly symbol?: string;
}

export interface NewRestriction extends RestrictionScope {
  readonly restrictionId: string;
  readonly kind: RestrictionKind;
  /** What GROSS and ALLOCATION multiply by: above 0, at most 1. */
  readonly factor?: Decimal;
  /** GROSS: the fund's gross exposure when the episode began, in its currency. */
  readonly base?: Decimal;
  readonly watchdog: WatchdogName;
  readonly episodeId: string;
  readonly since: Instant;
}

export interface RestrictionEnding {
  readonly at: Instant;
  /** The watchdog of its episode, or `operator:<name>`. */
  readonly by: string;
  readonly reason: string;
}

export interface Restriction extends NewRestriction {
  readonly ended?: RestrictionEnding;
}

/** A person ended a restriction before its episode did; the episode does not open it again. */
export const restrictionEnded = z.object({
  restriction_id: idText,
  kind: restrictionKind,
  fund_id: idText.optional(),
  strategy_id: idText.optional(),
  symbol: symbolText.optional(),
  factor: nonNegativeDecimalText.optional(),
  watchdog: watchdogName,
  episode_id: idText,
  since: instantText,
  ended_by: nameText,
  reason: reasonText,
  at: instantText,
});

// The restrictions of watchdogs among the standing conditions that deny new risk: where each holds, since when, and what the view is like without it.
import type { DenialCode } from "../../contracts/src/codes.ts";
import { restrictedSymbols, shortOptionsBlock } from "../blocks/restriction-book.ts";
import type { FundView, RestrictionView } from "../state/view.ts";
import type { BlockScope, Standing, StandingBlock } from "./standing.ts";
import type { EngineState } from "./state.ts";

type Restrictor = Exclude<keyof RestrictionView, "isUnknown">;

function mend(view: FundView, without: Partial<RestrictionView>): void {
  if (view.restrictions !== undefined) view.restrictions = { ...view.restrictions, ...without };
}

function restricted(scope: BlockScope, restrictor: Restrictor): Standing {
  return {
    scope: () => scope,
    since: ({ restrictions }, state) => state.restrictions.since.get(restrictions?.[restrictor]?.restrictionId ?? ""),
    mend: (view) => mend(view, { [restrictor]: undefined }),
  };
}

export const restrictionConditions = {
  RESTRICTIONS_UNKNOWN: {
    scope: () => "firm",
    since: () => undefined,
    mend: (view) => mend(view, { isUnknown: false }),
  },
  AGGRESSIVE_THROTTLED: restricted("symbol", "throttle"),
  NEWS_COOLDOWN: restricted("symbol", "cooldown"),
  STRATEGY_SHADOWED: restricted("strategy", "shadow"),
  GROSS_EXPOSURE_REDUCED: restricted("fund", "gross"),
} as const satisfies Partial<Record<DenialCode, Standing>>;

/** Those that hold in a symbol, for the funds that they name. */
const ofSymbol: readonly DenialCode[] = ["AGGRESSIVE_THROTTLED", "NEWS_COOLDOWN"];

export const isOfFundAndSymbol = (code: DenialCode): boolean => code === "SYMBOL_BLOCKED" || ofSymbol.includes(code);

/** Symbols of a fund that something other than their price or their reference data blocks. */
export function blockedSymbols(state: EngineState, fundId: string): readonly string[] {
  const differing = state.symbolBlocks.get(fundId)?.keys() ?? [];
  return [...new Set([...differing, ...restrictedSymbols(state.restrictions, fundId)])];
}

/** The smallest purchase does not ask for it: it denies sales of options only. */
export function shortOptionBlocks(state: EngineState, fundId: string): readonly StandingBlock[] {
  const by = shortOptionsBlock(state.restrictions, fundId);
  if (by === undefined) return [];
  const reason = `No option is sold short, by ${by.watchdog} in episode ${by.episodeId}.`;
  const since = state.restrictions.since.get(by.restrictionId);
  return [{ code: "SHORT_OPTIONS_BLOCKED", scope: "fund", fundId, reason, since }];
}

// What is listed of a fund and its symbols beside what the smallest purchase meets: symbols with conditions of their own, and sales of options.
import type { DenialCode } from "../../contracts/src/codes.ts";
import { symbolsWithConditions } from "../blocks/condition-book.ts";
import { findCondition } from "../blocks/index.ts";
import { saidBy } from "../blocks/restriction-book.ts";
import type { StandingBlock } from "./standing.ts";
import type { EngineState } from "./state.ts";

/** Whether it holds in a symbol, for the funds that it names. */
export const isOfFundAndSymbol = (code: DenialCode): boolean => findCondition(code)?.ofFund === true;

/** Symbols of a fund that something other than their price or their reference data blocks. */
export function blockedSymbols({ conditions }: EngineState, fundId: string): readonly string[] {
  return symbolsWithConditions(conditions, fundId, isOfFundAndSymbol);
}

/** The smallest purchase does not ask for it: it denies sales of options only. */
export function shortOptionBlocks({ restrictions }: EngineState, fundId: string): readonly StandingBlock[] {
  const by = restrictions.noShortOptions.get(fundId);
  if (by === undefined) return [];
  const since = restrictions.since.get(by.restrictionId);
  return [
    {
      code: "SHORT_OPTIONS_BLOCKED",
      scope: "fund",
      fundId,
      reason: `No option is sold short, by ${saidBy(by)}.`,
      since,
    },
  ];
}

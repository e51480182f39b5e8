// The name of a stop. It follows from the opening, so that an opening can have one only.
import type { Sha256 } from "../../../ports/hashing.ts";
import { shortHash } from "../short-hash.ts";

interface Opening {
  readonly fundId: string;
  readonly strategyId: string;
  readonly symbol: string;
  readonly openedBy: string;
}

export function stopIdOf(sha256: Sha256, { fundId, strategyId, symbol, openedBy }: Opening): string {
  return `stop-${shortHash(sha256, [fundId, strategyId, symbol, openedBy])}`;
}

export function isSameOpening(one: Opening, other: Opening): boolean {
  const isOfOne = one.fundId === other.fundId && one.strategyId === other.strategyId;
  return isOfOne && one.symbol === other.symbol && one.openedBy === other.openedBy;
}

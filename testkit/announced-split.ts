// A split that was announced, for tests that need one and nobody to carry it out.
import type { Instant } from "../contracts/src/instant.ts";
import type { StoredAction } from "../ports/corporate-actions.ts";

export function announcedSplit(actionId: string, symbol: string, at: Instant): StoredAction {
  return {
    actionId,
    kind: "SPLIT",
    symbol,
    state: "ANNOUNCED",
    termsHash: "h",
    bookedBy: "operator:duty",
    reason: "r",
    legs: [{ symbol, new_symbol: symbol, quantity: [4, 1], price: [1, 4] }],
    announcedAt: at,
  };
}

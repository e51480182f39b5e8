// What treasury and order management share about corporate actions: how one is told, and how long after its announcement it may be applied.
import type { CorporateActionChanged } from "../../contracts/src/records/corporate-action.ts";
import type { StoredAction } from "../../ports/corporate-actions.ts";

/** Longer than anybody may quote a price of before it (adapters/paper-market/paper-market.ts). */
export const actionLeadMs = 5_000;

export function changedRecord(action: StoredAction, at: string): CorporateActionChanged {
  const { actionId, kind, symbol, state, legs, bookedBy, reason, note } = action;
  return {
    ...{ action_id: actionId, kind, symbol, state, legs: [...legs], booked_by: bookedBy, reason },
    ...(note !== undefined && { note }),
    at,
  };
}

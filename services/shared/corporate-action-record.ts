// What treasury and order management share about corporate actions: how one is told, and at what pace it is carried out.
import type { CorporateActionChanged } from "../../contracts/src/records/corporate-action.ts";
import type { StoredAction } from "../../ports/corporate-actions.ts";
import type { CorporateActionSettings, Settings } from "../../ports/settings.ts";

/** The lead is longer than anybody may quote a price of before an action (adapters/paper-market/paper-market.ts). */
const usual: CorporateActionSettings = { leadMs: 5_000, lookEveryMs: 500, patienceMs: 30_000 };

export function actionPace({ corporateActions }: Pick<Settings, "corporateActions">): CorporateActionSettings {
  return corporateActions ?? usual;
}

export function changedRecord(action: StoredAction, at: string): CorporateActionChanged {
  const { actionId, kind, symbol, state, legs, bookedBy, reason, note } = action;
  return {
    ...{ action_id: actionId, kind, symbol, state, legs: [...legs], booked_by: bookedBy, reason },
    ...(note !== undefined && { note }),
    at,
  };
}

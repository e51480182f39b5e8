// What treasury and order management share about corporate actions: how one is reported, and at what pace it is carried out.
import { format } from "../../contracts/src/instant.ts";
import type { CorporateActionChanged } from "../../contracts/src/records/corporate-action.ts";
import type { StoredAction, StoredDividend } from "../../ports/corporate-actions.ts";
import type { CorporateActionSettings, Settings } from "../../ports/settings.ts";

/** The lead is longer than anybody may quote a price of before an action (adapters/paper-market/paper-market.ts). */
const usual: CorporateActionSettings = { leadMs: 5_000, lookEveryMs: 500, patienceMs: 30_000 };

export function actionPace({ corporateActions }: Pick<Settings, "corporateActions">): CorporateActionSettings {
  return corporateActions ?? usual;
}

export function changedRecord(action: StoredAction, at: string): CorporateActionChanged {
  const { actionId, kind, symbol, state, legs, bookedBy, reason, note, dividend } = action;
  return {
    action_id: actionId,
    kind,
    symbol,
    state,
    legs: [...legs],
    booked_by: bookedBy,
    reason,
    ...(note !== undefined && { note }),
    ...(dividend !== undefined && { dividend: dividendRecord(dividend) }),
    at,
  };
}

function dividendRecord({ perShare, currency, exDate, payDate, exAt }: StoredDividend) {
  const terms = { per_share: perShare, currency, ex_date: exDate, ex_at: format(exAt) };
  return { ...terms, ...(payDate !== undefined && { pay_date: payDate }) };
}

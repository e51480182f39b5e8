// Corporate actions, in a transaction of the memory store.
import type { CorporateActionRecords, StoredAction } from "../../../ports/corporate-actions.ts";
import type { RecordTools } from "../layered-map.ts";

export type ActionTables = Map<string, StoredAction>;

export function actionChanges(tables: ActionTables, { inTurn, lock, table }: RecordTools): CorporateActionRecords {
  const actions = table("corporate_action", tables);
  return {
    lock: (actionId) =>
      inTurn(async () => {
        await lock(`corporate action ${actionId}`);
        return actions.get(actionId);
      }),
    put: (action) =>
      inTurn(async () => {
        await lock(`corporate action ${action.actionId}`);
        actions.set(action.actionId, action);
      }),
    underWay: () => inTurn(async () => underWay(actions.filter(() => true))),
    applied: () => inTurn(async () => applied(actions.filter(() => true))),
    dividends: () => inTurn(async () => unpaid(actions.filter(() => true))),
  };
}

const byId = (one: StoredAction, other: StoredAction): number => (one.actionId < other.actionId ? -1 : 1);

export function underWay(actions: readonly StoredAction[]): readonly StoredAction[] {
  return actions
    .filter(({ state }) => state === "ANNOUNCED" || state === "APPLIED")
    .sort((one, other) => one.announcedAt - other.announcedAt || byId(one, other));
}

function unpaid(actions: readonly StoredAction[]): readonly StoredAction[] {
  return actions
    .filter(({ state }) => state === "DECLARED" || state === "EX")
    .sort((one, other) => one.announcedAt - other.announcedAt || byId(one, other));
}

export function applied(actions: readonly StoredAction[]): readonly StoredAction[] {
  return actions
    .filter(({ appliedAt }) => appliedAt !== undefined)
    .sort((one, other) => (one.appliedAt ?? 0) - (other.appliedAt ?? 0) || byId(one, other));
}

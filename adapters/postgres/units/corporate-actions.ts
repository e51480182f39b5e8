// Corporate actions, in a transaction.
import type { CorporateActionRecords, StoredAction } from "../../../ports/corporate-actions.ts";
import type { Sql } from "../store-transaction.ts";

interface ActionRow {
  readonly content: StoredAction;
}

const contentsOf = (rows: readonly unknown[]): readonly StoredAction[] =>
  (rows as readonly ActionRow[]).map(({ content }) => content);

export function corporateActionRecords(sql: Sql): CorporateActionRecords {
  return {
    async lock(actionId) {
      const found = await sql.write({
        name: "corporate_action_lock",
        text: "select content from corporate_action where action_id = $1 for update",
        values: [actionId],
      });
      return contentsOf(found.rows)[0];
    },
    async put(action) {
      await sql.write({
        name: "corporate_action_put",
        text: `insert into corporate_action (action_id, symbol, state, announced_us, applied_us, content)
               values ($1, $2, $3, $4, $5, $6)
               on conflict (action_id) do update
                 set state = excluded.state, announced_us = excluded.announced_us, applied_us = excluded.applied_us,
                     content = excluded.content`,
        values: [
          action.actionId,
          action.symbol,
          action.state,
          action.announcedAt,
          action.appliedAt ?? null,
          JSON.stringify(action),
        ],
      });
    },
    async underWay() {
      const found = await sql.read({
        name: "corporate_action_under_way",
        text: `select content from corporate_action where state in ('ANNOUNCED', 'APPLIED')
               order by announced_us, action_id`,
      });
      return contentsOf(found.rows);
    },
    async applied() {
      const found = await sql.read({
        name: "corporate_action_applied",
        text: "select content from corporate_action where applied_us is not null order by applied_us, action_id",
      });
      return contentsOf(found.rows);
    },
    async dividends() {
      const found = await sql.read({
        name: "corporate_action_dividends",
        text: `select content from corporate_action where state in ('DECLARED', 'EX') order by announced_us, action_id`,
      });
      return contentsOf(found.rows);
    },
  };
}

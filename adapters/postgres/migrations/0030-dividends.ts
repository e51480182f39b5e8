// Cash dividends are corporate actions with states of their own: declared until the share goes ex, and due until they are paid.
import type { Migration } from "../migrate.ts";

const sql = `
alter table corporate_action
  drop constraint corporate_action_state_check,
  add constraint corporate_action_state_check
    check (state in ('ANNOUNCED', 'APPLIED', 'DONE', 'ABORTED', 'DECLARED', 'EX'));
create index corporate_action_dividends on corporate_action (announced_us) where state in ('DECLARED', 'EX');
`;

export const dividendsMigration: Migration = { number: 30, name: "dividends", sql };

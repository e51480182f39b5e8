// Splits and changes of symbols. A symbol has one under way at a time. The paper broker keeps which ones its own books have, because they are not ours.
import type { Migration } from "../migrate.ts";

const sql = `
create table corporate_action (
  action_id    text   primary key collate "C",
  symbol       text   not null collate "C",
  state        text   not null check (state in ('ANNOUNCED', 'APPLIED', 'DONE', 'ABORTED')),
  announced_us bigint not null,
  applied_us   bigint,
  content      json   not null
) with (fillfactor = 70);
create unique index corporate_action_under_way on corporate_action (symbol) where state in ('ANNOUNCED', 'APPLIED');
create index corporate_action_applied on corporate_action (applied_us) where applied_us is not null;

create table paper_action (
  action_id text primary key collate "C"
);
comment on table paper_action is 'The corporate actions that the paper broker has taken into its books. Append only for everybody.';
create trigger append_only before update or delete or truncate on paper_action
  for each statement execute function refuse_rewriting();

grant select, insert, update on corporate_action to portcullis_app;
grant select, insert on paper_action to portcullis_app;
`;

export const corporateActionsMigration: Migration = { number: 27, name: "corporate-actions", sql };

// The sixty-eighth step: what order management published about orders of funds that are enabled for a regulator, and since when they are. Both follow from events
// that are entries of the audit log; neither is ever changed.
import type { Migration } from "../migrate.ts";

const sql = `
create table filing_step (
  event_id        text   not null collate "C",
  fund_id         text   not null collate "C",
  order_id        text   not null collate "C",
  parent_order_id text   collate "C",
  at_us           bigint not null check (at_us between -9007199254740991 and 9007199254740991),
  source          text   not null,
  content         json   not null,
  primary key (fund_id, order_id, event_id)
);
create index filing_step_parent on filing_step (fund_id, parent_order_id) where parent_order_id is not null;
create trigger append_only before update or delete or truncate on filing_step for each statement execute function refuse_rewriting();
comment on table filing_step is 'Steps of orders whose fund is enabled for a regulator, as they were published. Rows are never changed or removed.';
grant select, insert on filing_step to portcullis_app;

create table filing_switch (
  regime  text    not null,
  fund_id text    not null collate "C",
  at_us   bigint  not null check (at_us between -9007199254740991 and 9007199254740991),
  enabled boolean not null,
  primary key (regime, fund_id, at_us)
);
create trigger append_only before update or delete or truncate on filing_switch for each statement execute function refuse_rewriting();
comment on table filing_switch is 'When a fund was enabled for a regulator, and when it was not any more. Rows are never changed or removed.';
grant select, insert on filing_switch to portcullis_app;
`;

export const filingStepsMigration: Migration = { number: 68, name: "filing-steps", sql };

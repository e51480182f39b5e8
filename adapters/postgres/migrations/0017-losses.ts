// The seventeenth step: losses. What is remembered of a fund's losses, from where on each of them is counted, and the values that windows begin
// with.
//
// What carries weight elsewhere:
//  - `loss_baseline` is append only for everybody: its primary key is what makes a period begin once.
import type { Migration } from "../migrate.ts";

const sql = `
create table loss_state (
  fund_id text primary key collate "C",
  content json
) with (fillfactor = 50);
comment on table loss_state is 'What is remembered of a fund''s losses; without content while there is only the lock.';

create table loss_baseline (
  fund_id     text   not null collate "C",
  limit_name  text   not null collate "C",
  strategy_id text   not null collate "C",
  period      text   not null collate "C",
  version     bigint not null check (version >= 0),
  set_us      bigint not null,
  content     json   not null,
  primary key (fund_id, limit_name, strategy_id, period, version)
);
create index loss_baseline_newest on loss_baseline (fund_id, set_us desc);
comment on table loss_baseline is 'From where on losses are counted. Append only for everybody.';

create table loss_sample (
  fund_id text   not null collate "C",
  at_us   bigint not null,
  content json   not null,
  primary key (fund_id, at_us)
);
comment on table loss_sample is 'Values that moving windows begin with; older ones are removed as they go.';

grant select, insert, update on loss_state to portcullis_app;
grant select, insert on loss_baseline to portcullis_app;
grant select, insert, delete on loss_sample to portcullis_app;
`;

export const lossesMigration: Migration = { number: 17, name: "losses", sql };

// The eighteenth step: flattens with the positions that each of them closes, and drills.
//
// What carries weight elsewhere:
//  - `flatten_running` lets one flatten run at a time: whoever asks for more adds to it.
import type { Migration } from "../migrate.ts";

const sql = `
create table flatten (
  flatten_id   text    primary key collate "C",
  is_running   boolean not null,
  requested_us bigint  not null,
  content      json    not null
) with (fillfactor = 70);
create unique index flatten_running on flatten (is_running) where is_running;
create index flatten_newest on flatten (requested_us desc, flatten_id desc);
comment on table flatten is 'Wishes that every position of some paper funds is closed; one at most is running.';

create table flatten_line (
  line_id     text not null primary key collate "C",
  flatten_id  text not null collate "C" references flatten,
  fund_id     text not null collate "C",
  strategy_id text not null collate "C",
  symbol      text not null collate "C",
  content     json not null
) with (fillfactor = 70);
create index flatten_line_of on flatten_line (flatten_id, fund_id, strategy_id, symbol, line_id);
comment on table flatten_line is 'Positions that a flatten closes.';

create table drill (
  drill_id    text   primary key collate "C",
  measured_us bigint not null,
  content     json   not null
);
create index drill_newest on drill (measured_us desc, drill_id desc);
comment on table drill is 'What drills measured. Append only for everybody.';

create trigger append_only before update or delete or truncate on drill
  for each statement execute function refuse_rewriting();

grant select, insert, update on flatten, flatten_line to portcullis_app;
grant select, insert on drill to portcullis_app;
`;

export const flattenMigration: Migration = { number: 18, name: "flatten", sql };

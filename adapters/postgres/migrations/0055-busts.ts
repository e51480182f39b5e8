// Busts of foreign fills as they came, and the foreign fills that treasury booked with who published each: only that one may take it back.
import type { Migration } from "../migrate.ts";

const sql = `
create table foreign_bust (
  source  text   not null collate "C",
  bust_id text   not null collate "C",
  fill_id text   not null collate "C",
  content json   not null,
  at_us   bigint not null check (at_us between -9007199254740991 and 9007199254740991),
  primary key (source, bust_id)
);
comment on table foreign_bust is 'Every bust that was taken, also one whose fill has not come yet. Append only.';
create index foreign_bust_by_fill on foreign_bust (fill_id, source, bust_id);

create table foreign_fill (
  fill_id text   primary key collate "C",
  content json   not null,
  at_us   bigint not null check (at_us between -9007199254740991 and 9007199254740991)
);
comment on table foreign_fill is 'Foreign fills as treasury booked them, each with its publisher. Append only.';
create trigger append_only before update or delete or truncate on foreign_bust
  for each statement execute function refuse_rewriting();
create trigger append_only before update or delete or truncate on foreign_fill
  for each statement execute function refuse_rewriting();
grant select, insert on foreign_bust, foreign_fill to portcullis_app;

drop index treasury_entry_by_time;
create index treasury_entry_by_time on treasury_entry (fund_id, at_us) where kind in ('FILL', 'BUST');
`;

export const bustsMigration: Migration = { number: 55, name: "busts", sql };

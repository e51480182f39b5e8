// The thirty-third step: observations that are put beside the true ones on the paper platform, and a table whose rows may die for a drill.
import type { Migration } from "../migrate.ts";

const sql = `
create table paper_injection (
  kind        text             primary key collate "C" check (kind in ('skill', 'pnl', 'slow_queries', 'dead_rows')),
  strategy_id text             collate "C",
  z           double precision,
  by          text             not null,
  at_us       bigint           not null
);
comment on table paper_injection is 'What watchdogs are shown beside the true records; one of a kind.';

create table paper_drill_row (
  number  bigint primary key,
  content text   not null
) with (autovacuum_enabled = false);
comment on table paper_drill_row is 'Rows that are written and removed again, so that there is something to vacuum.';

grant select, insert, update, delete on paper_injection, paper_drill_row to portcullis_app;
do $$
begin
  -- PostgreSQL 17 and later have a right for it; before that only the owner vacuums.
  execute 'grant maintain on all tables in schema portcullis to portcullis_app';
exception when others then
  raise notice 'portcullis_app may not vacuum here: %', sqlerrm;
end $$;
`;

export const paperInjectionsMigration: Migration = { number: 33, name: "paper-injections", sql };

// The thirty-second step: what watchdogs remember, their episodes, who paused them, strategies' profit or loss by the day, and their signals at the close.
//
//  - Scope columns that do not apply are empty, so that they stand in keys.
//  - `content` is JSON as the service wrote it: what a watchdog remembers is its own business.
//  - Statistics of queries are readable where the extension can be created; db_watchdog says so where it cannot.
import type { Migration } from "../migrate.ts";

const sql = `
create table watchdog_watch (
  watchdog    text not null collate "C",
  fund_id     text not null collate "C",
  strategy_id text not null collate "C",
  symbol      text not null collate "C",
  content     json not null,
  primary key (watchdog, fund_id, strategy_id, symbol)
) with (fillfactor = 50);
comment on table watchdog_watch is 'What a watchdog remembers of what it watches, partial buckets included, and what it judged last.';

create table watchdog_episode (
  episode_id  text   primary key collate "C",
  watchdog    text   not null collate "C",
  fund_id     text   not null collate "C",
  strategy_id text   not null collate "C",
  symbol      text   not null collate "C",
  opened_us   bigint not null,
  cleared_us  bigint,
  content     json   not null
);
create index watchdog_episode_opened on watchdog_episode (opened_us desc, episode_id);
create index watchdog_episode_open on watchdog_episode (watchdog, fund_id) where cleared_us is null;
comment on table watchdog_episode is 'From the moment a watchdog left its ordinary state until it was back: one row each.';

create table watchdog_pause (
  watchdog text   not null collate "C",
  fund_id  text   not null collate "C",
  by       text   not null,
  reason   text   not null,
  at_us    bigint not null,
  until_us bigint not null,
  primary key (watchdog, fund_id)
);
comment on table watchdog_pause is 'While it is paused a watchdog judges on and does nothing; an empty fund_id stands for all.';

create table watchdog_pnl (
  strategy_id    text             not null collate "C",
  day            text             not null collate "C",
  opened         numeric(38,18)   not null,
  closed         numeric(38,18)   not null,
  nav            numeric(38,18)   not null,
  allocation_pct double precision not null,
  primary key (strategy_id, day)
) with (fillfactor = 50);
comment on table watchdog_pnl is 'Profit or loss of a strategy by the trading day: closed minus opened, both since the fund began.';

create table research_daily_signal (
  strategy_id text             not null collate "C",
  day         text             not null collate "C",
  symbol      text             not null collate "C",
  value       double precision not null,
  price       numeric(38,18)   not null,
  at_us       bigint           not null,
  realised    double precision,
  primary key (strategy_id, day, symbol)
) with (fillfactor = 50);
comment on table research_daily_signal is 'What a strategy said of a symbol last on a trading day, and the return from there to the next day''s last price.';

grant select, insert, update, delete on watchdog_watch, watchdog_pause to portcullis_app;
grant select, insert, update on watchdog_episode, watchdog_pnl, research_daily_signal to portcullis_app;

do $$
begin
  create extension if not exists pg_stat_statements schema public;
exception when others then
  raise notice 'pg_stat_statements cannot be created here: %', sqlerrm;
end $$;
do $$
begin
  grant pg_read_all_stats to portcullis_app;
exception when others then
  raise notice 'pg_read_all_stats cannot be granted here: %', sqlerrm;
end $$;
`;

export const watchdogsMigration: Migration = { number: 32, name: "watchdogs", sql };

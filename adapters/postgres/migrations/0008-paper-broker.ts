// The eighth step: the books of the paper broker, which plays a system outside of ours, and what it is made to suffer.
//
//  - Whoever changes the books locks the row of `paper_head` first, so changes come one after the other, and reports are numbered without
//    gaps in the order in which they become visible.
//  - `paper_print` has the moment of the last quote of a symbol that somebody traded on: what stood there is gone, also after a crash.
//  - `paper_market` has the moment at which this database was made: there the paper market's prices are those of the listing.
import type { Migration } from "../migrate.ts";

const sql = `
create table paper_head (
  one       boolean primary key default true check (one),
  cursor    bigint  not null default 0,
  arrivals  bigint  not null default 0,
  begun     boolean not null default false,
  hide_next integer not null default 0
) with (fillfactor = 50);
insert into paper_head default values;

create table paper_order (
  client_order_id text    primary key collate "C",
  account         text    not null collate "C",
  symbol          text    not null collate "C",
  is_open         boolean not null,
  expires_us      bigint,
  content         json    not null
) with (fillfactor = 70);
create index paper_order_open on paper_order (symbol) where is_open;
create index paper_order_ends on paper_order (expires_us) where is_open and expires_us is not null;

create table paper_report (
  cursor  bigint primary key,
  content json   not null
);
comment on table paper_report is 'Every change of an order at the paper broker. Append only for everybody.';
create trigger append_only before update or delete or truncate on paper_report
  for each statement execute function refuse_rewriting();

create table paper_position (
  account       text           not null collate "C",
  symbol        text           not null collate "C",
  quantity      numeric(38,18) not null,
  average_price numeric(38,18) not null,
  primary key (account, symbol)
) with (fillfactor = 50);

create table paper_print (
  symbol    text   primary key collate "C",
  quoted_us bigint not null
) with (fillfactor = 50);

create table paper_lag (
  account  text   primary key collate "C",
  until_us bigint not null,
  content  json   not null
);
comment on table paper_lag is 'For tests: positions that are told as they were for a while.';

create table paper_weather (
  one     boolean primary key default true check (one),
  content json    not null
);

create table paper_market (
  one      boolean primary key default true check (one),
  began_us bigint  not null default (extract(epoch from clock_timestamp()) * 1000000)::bigint
);
insert into paper_market default values;

grant select, update (cursor, arrivals, begun, hide_next) on paper_head to portcullis_app;
grant select, insert, update on paper_order, paper_position, paper_print, paper_lag, paper_weather to portcullis_app;
grant select, insert on paper_report to portcullis_app;
grant select on paper_market to portcullis_app;
`;

export const paperBrokerMigration: Migration = { number: 8, name: "paper broker", sql };

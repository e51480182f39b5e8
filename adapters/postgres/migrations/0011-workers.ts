// The eleventh step: synthetic stops that fired, and differences with brokers.
//
// What carries weight elsewhere:
//  - A stop's id follows from the opening that it closes: its primary key is what makes an opening fire once.
//  - Looks and agreements change with every comparison and are no news; what becomes of a difference is, so it has a table of its own.
import type { Migration } from "../migrate.ts";

const sql = `
create table stop (
  stop_id  text    primary key collate "C",
  is_owed  boolean not null,
  fired_us bigint  not null,
  content  json    not null
) with (fillfactor = 70);
create index stop_owed on stop (fired_us, stop_id) where is_owed;
comment on table stop is 'Synthetic stops that fired; the exit of those that are owed is not confirmed yet.';

create table reconcile_difference (
  difference_id text   primary key collate "C",
  fund_id       text   not null collate "C",
  broker        text   not null collate "C",
  account       text   not null collate "C",
  symbol        text   not null collate "C",
  status        text   not null,
  first_seen_us bigint not null,
  content       json   not null
) with (fillfactor = 70);
create unique index reconcile_difference_open on reconcile_difference (broker, account, symbol)
  where status in ('SUSPECTED', 'CONFIRMED');
create index reconcile_difference_newest on reconcile_difference (first_seen_us desc, difference_id desc);
create index reconcile_difference_by_fund on reconcile_difference (fund_id, first_seen_us desc, difference_id desc);

create table reconcile_look (
  difference_id text primary key collate "C" references reconcile_difference,
  content       json not null
) with (fillfactor = 50);
comment on table reconcile_look is 'What the newest look at a difference saw.';

create table reconcile_agreement (
  broker  text not null collate "C",
  account text not null collate "C",
  content json not null,
  primary key (broker, account)
) with (fillfactor = 50);
comment on table reconcile_agreement is 'Up to which report of a broker an account agreed with us.';

grant select, insert, update on stop, reconcile_difference, reconcile_look, reconcile_agreement to portcullis_app;
`;

export const workersMigration: Migration = { number: 11, name: "workers", sql };

// The ninth step: treasury's ledger, what strategies made, what is remembered of each fund, and the history of values.
//
// What carries weight elsewhere:
//  - An entry's id is what makes it be booked once; entries and postings are append only for everybody. Balances and holdings are their sums.
//  - `treasury_nav` has one row for every second, minute, hour and day that has a value, the last one in it. Only `bucket_us` is in an index, so that
//    writing the same minute again costs little.
import type { Migration } from "../migrate.ts";

const ledger = `
create table treasury_entry (
  number      bigint generated always as identity,
  entry_id    text   primary key collate "C",
  fund_id     text   not null collate "C",
  strategy_id text   collate "C",
  kind        text   not null,
  symbol      text   collate "C",
  quantity    numeric(38,18),
  reason      text   not null,
  booked_by   text   not null,
  at_us       bigint not null
);
create unique index treasury_entry_by_fund on treasury_entry (fund_id, number desc);

create table treasury_posting (
  entry_id text     not null references treasury_entry collate "C",
  place    smallint not null,
  account  text     not null collate "C",
  currency text     not null collate "C",
  amount   numeric(38,18) not null,
  primary key (entry_id, place)
);
create trigger append_only before update or delete or truncate on treasury_entry
  for each statement execute function refuse_rewriting();
create trigger append_only before update or delete or truncate on treasury_posting
  for each statement execute function refuse_rewriting();
comment on table treasury_posting is 'Debits are positive, credits negative; those of an entry sum to zero in every currency.';

create table treasury_balance (
  fund_id  text not null collate "C",
  account  text not null collate "C",
  currency text not null collate "C",
  amount   numeric(38,18) not null,
  primary key (fund_id, account, currency)
) with (fillfactor = 50);
comment on table treasury_balance is 'The sums of the postings.';

create table treasury_strategy_holding (
  fund_id     text not null collate "C",
  strategy_id text not null collate "C",
  symbol      text not null collate "C",
  quantity    numeric(38,18) not null,
  primary key (fund_id, strategy_id, symbol)
) with (fillfactor = 50);
comment on table treasury_strategy_holding is 'What each strategy has made of nothing: quantities, and the cash that they cost and brought.';
`;

const values = `
create table treasury_fund (
  fund_id text primary key collate "C",
  content json not null
) with (fillfactor = 50);
comment on table treasury_fund is 'The newest value, where the trading day began, and how far fees for borrowed shares are booked.';

create table treasury_nav (
  fund_id         text   not null collate "C",
  every           text   not null collate "C" check (every in ('second', 'minute', 'hour', 'day')),
  bucket_us       bigint not null,
  at_us           bigint not null,
  nav             numeric(38,18) not null,
  cash            numeric(38,18) not null,
  positions_value numeric(38,18) not null,
  net_flows       numeric(38,18) not null,
  currency        text   not null,
  oldest_price_age_ms double precision not null,
  trading_day     text,
  primary key (fund_id, every, bucket_us),
  check (nav = cash + positions_value)
) with (fillfactor = 70);
create index treasury_nav_oldest on treasury_nav (every, bucket_us);

create table treasury_import (
  name  text   primary key collate "C",
  hash  text   not null,
  at_us bigint not null
);

grant select, insert on treasury_entry, treasury_posting, treasury_import to portcullis_app;
grant select, insert, update on treasury_balance, treasury_strategy_holding, treasury_fund to portcullis_app;
grant select, insert, update, delete on treasury_nav to portcullis_app;
`;

export const treasuryMigration: Migration = { number: 9, name: "treasury", sql: ledger + values };

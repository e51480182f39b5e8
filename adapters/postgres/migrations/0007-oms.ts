// The seventh step: order management's orders, trades and positions.
//
// What carries weight elsewhere:
//  - `oms_key` has one row per idempotency key, which is locked while somebody looks who took the key: without it two orders with one key
//    could be put in at the same time, because neither sees the other before it commits.
//  - `oms_fund` hands out the sequence of a fund's trades; its row is locked until the trade is committed, so there are no gaps.
//  - Trades are append only for everybody. Orders and positions change, and every change is told.
import type { Migration } from "../migrate.ts";

const sql = `
create table oms_key (
  idempotency_key text primary key collate "C"
);
comment on table oms_key is 'Locked while somebody looks which order took the key.';

create table oms_order (
  order_id        text   primary key collate "C",
  idempotency_key text   not null collate "C",
  fund_id         text   not null collate "C",
  state           text   not null,
  is_open         boolean not null,
  parent_order_id text   collate "C",
  created_us      bigint not null,
  updated_us      bigint not null,
  content         json   not null
) with (fillfactor = 70);
create index oms_order_open on oms_order (created_us, order_id) where is_open;
create index oms_order_by_key on oms_order (idempotency_key, created_us);
create index oms_order_by_fund on oms_order (fund_id, created_us desc, order_id desc);
create index oms_order_newest on oms_order (created_us desc, order_id desc);
create index oms_order_slices on oms_order (parent_order_id) where parent_order_id is not null;
comment on column oms_order.content is 'The whole record; the columns are what is searched by.';

create table oms_fund (
  fund_id       text   primary key collate "C",
  fill_sequence bigint not null
);

create table oms_fill (
  fill_id   text   primary key collate "C",
  order_id  text   not null collate "C",
  fund_id   text   not null collate "C",
  sequence  bigint not null,
  filled_us bigint not null,
  content   json   not null
);
create index oms_fill_by_order on oms_fill (order_id);
create index oms_fill_by_fund on oms_fill (fund_id, filled_us desc, fill_id desc);
create index oms_fill_newest on oms_fill (filled_us desc, fill_id desc);
create trigger append_only before update or delete or truncate on oms_fill
  for each statement execute function refuse_rewriting();
comment on table oms_fill is 'Every trade, adjustment and opening. Append only for everybody.';

create table oms_position (
  fund_id       text           not null collate "C",
  strategy_id   text           not null collate "C",
  symbol        text           not null collate "C",
  quantity      numeric(38,18) not null,
  cost          numeric(38,18) not null,
  average_price numeric(38,18) not null,
  realised_pnl  numeric(38,18) not null,
  opened_by     text           not null,
  updated_us    bigint         not null,
  primary key (fund_id, strategy_id, symbol)
) with (fillfactor = 50);
comment on table oms_position is 'The sum of the trades of a strategy in a symbol.';

create table oms_report_cursor (
  broker text   primary key collate "C",
  cursor bigint not null
);

grant select, insert on oms_fill to portcullis_app;
-- Locking a row takes the right to change it.
grant select, insert, update on oms_key, oms_order, oms_fund, oms_position, oms_report_cursor to portcullis_app;
`;

export const omsMigration: Migration = { number: 7, name: "oms", sql };

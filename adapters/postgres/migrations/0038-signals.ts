// The thirty-eighth step: the alerts of a charting platform and what became of them.
import type { Migration } from "../migrate.ts";

const sql = `
create table oms_signal (
  signal_id       text   primary key collate "C",
  fund_id         text   not null collate "C",
  receipt         bigint not null check (receipt > 0),
  strategy_id     text   collate "C",
  symbol          text   collate "C",
  idempotency_key text   collate "C",
  key_until_us    bigint,
  status          text   not null check (status in ('REFUSED', 'ACCEPTED', 'SUBMITTED', 'FAILED')),
  received_us     bigint not null check (received_us between -9007199254740991 and 9007199254740991),
  content         json   not null,
  unique (fund_id, receipt)
);
create index oms_signal_age on oms_signal (received_us desc, signal_id desc);
create index oms_signal_of_fund on oms_signal (fund_id, received_us desc, signal_id desc);
create index oms_signal_of_strategy on oms_signal (strategy_id, received_us desc, signal_id desc);
create index oms_signal_key on oms_signal (fund_id, idempotency_key, key_until_us) where key_until_us is not null;
create index oms_signal_waiting on oms_signal (fund_id, symbol, receipt) where status = 'ACCEPTED';
comment on table oms_signal is 'Requests at the charting platform''s webhook, without their secrets. A fund_id of nothing proved no secret.';
grant select, insert, update on oms_signal to portcullis_app;

create table oms_signal_fund (
  fund_id text   primary key collate "C",
  receipt bigint not null check (receipt > 0)
);
comment on table oms_signal_fund is 'How many requests each fund received: whoever takes the next number keeps the fund from others.';
grant select, insert, update on oms_signal_fund to portcullis_app;
`;

export const signalsMigration: Migration = { number: 38, name: "signals", sql };

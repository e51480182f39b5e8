// The twenty-third step: fills that treasury cannot book yet, in the order in which they came.
import type { Migration } from "../migrate.ts";

const sql = `
create table treasury_waiting_fill (
  place   bigint generated always as identity (cache 1) primary key,
  fund_id text   not null collate "C",
  fill_id text   not null collate "C",
  content json   not null,
  kept_us bigint not null,
  unique (fund_id, fill_id)
);
comment on table treasury_waiting_fill is 'Fills that cannot be booked yet: tried until they are, in order within their fund.';
grant select, insert, delete on treasury_waiting_fill to portcullis_app;
`;

export const waitingFillsMigration: Migration = { number: 23, name: "waiting-fills", sql };

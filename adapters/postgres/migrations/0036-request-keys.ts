// The thirty-sixth step: what was asked under an idempotency key, and what was answered.
import type { Migration } from "../migrate.ts";

const sql = `
create table request_key (
  caller    text   not null collate "C",
  place     text   not null collate "C",
  key       text   not null collate "C" check (length(key) between 1 and 255),
  body_hash text   not null collate "C",
  holder    text   not null collate "C",
  begun_us  bigint not null check (begun_us between -9007199254740991 and 9007199254740991),
  state     text   not null check (state in ('begun', 'kept', 'unkept')),
  answer    bytea  not null,
  primary key (caller, place, key)
);
create index request_key_age on request_key (begun_us);
comment on table request_key is 'Requests that came with an Idempotency-Key, for a day: a repeat gets the first answer.';
grant select, insert, update, delete on request_key to portcullis_app;
`;

export const requestKeysMigration: Migration = { number: 36, name: "request-keys", sql };

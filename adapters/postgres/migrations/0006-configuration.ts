// The sixth step: the configuration of the last start, so that the next one can tell what has changed since. What is secret is kept as a digest that
// is slow to guess, never as a value.
import type { Migration } from "../migrate.ts";

const sql = `
create table configuration_value (
  service text not null collate "C" check (char_length(service) between 1 and 200),
  path    text not null collate "C" check (char_length(path) between 1 and 1000),
  shown   text not null check (char_length(shown) <= 1000),
  digest  text not null check (char_length(digest) between 1 and 200),
  primary key (service, path)
);
comment on table configuration_value is 'The effective configuration of the last start, by the first part of the process that started.';
grant select, insert, update, delete on configuration_value to portcullis_app;
`;

export const configurationMigration: Migration = { number: 6, name: "configuration", sql };

// The twenty-sixth step: since when something stands that a job looks for again and again.
import type { Migration } from "../migrate.ts";

const sql = `
create table first_seen (
  kind  text   not null collate "C",
  about text   not null collate "C",
  at_us bigint not null check (at_us between -9007199254740991 and 9007199254740991),
  primary key (kind, about)
);
comment on table first_seen is 'When something that still stands was seen first, such as a difference of the books.';
grant select, insert, delete on first_seen to portcullis_app;
`;

export const firstSeenMigration: Migration = { number: 26, name: "first-seen", sql };

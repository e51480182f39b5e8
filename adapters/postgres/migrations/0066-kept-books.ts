// The sixty-sixth step: the engine's books as they were once an hour, so that those of a moment of the past are made of an hour's entries and not of all.
import type { Migration } from "../migrate.ts";

const sql = `
create table kept_books (
  through bigint primary key,
  at_us   bigint not null check (at_us between -9007199254740991 and 9007199254740991),
  engine  bytea  not null,
  costs   json   not null
);
alter table kept_books alter column engine set storage external;
create index kept_books_at on kept_books (at_us);
create trigger append_only before update or truncate on kept_books for each statement execute function refuse_rewriting();
comment on table kept_books is 'The books of the risk engine after an entry of its journal, and what positions cost. Follows from the journal. Rows are never changed; old ones are removed.';
grant select, insert, delete on kept_books to portcullis_app;
`;

export const keptBooksMigration: Migration = { number: 66, name: "kept-books", sql };

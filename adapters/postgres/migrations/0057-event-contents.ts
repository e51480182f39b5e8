// What an event of a foreign program said under its id, and which of its numbers were refused without being used up: a gap among them says so.
import type { Migration } from "../migrate.ts";

const sql = `
alter table handled_event add column content text;
comment on column handled_event.content is
  'The hash of what the event said, where its id is its publisher''s own; null for those that were handled before hashes were kept.';

alter table foreign_position add column refused jsonb not null default '[]' check (jsonb_typeof(refused) = 'array');
comment on column foreign_position.refused is
  'Numbers of events that were refused and did not use them up, the newest ones: [{"number", "code"}].';
`;

export const eventContentsMigration: Migration = { number: 57, name: "event-contents", sql };

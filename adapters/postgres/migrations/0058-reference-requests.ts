// Changes of reference data that loosen during a halt, as they were asked for; a second person signs. One is written once and never changed: whether it still
// counts follows from its time and from the version that it names.
import type { Migration } from "../migrate.ts";

const sql = `
create table reference_request (
  request_id text   primary key collate "C",
  asked_us   bigint not null check (asked_us between -9007199254740991 and 9007199254740991),
  content    json   not null
);
comment on table reference_request is 'Changes of reference data that wait for a second person. Append only.';
create trigger append_only before update or delete or truncate on reference_request
  for each statement execute function refuse_rewriting();
grant select, insert on reference_request to portcullis_app;
`;

export const referenceRequestsMigration: Migration = { number: 58, name: "reference-requests", sql };

// The fifteenth step: requests to lift every halt. One is ended in place; `resume_request_pending` keeps a second one from waiting beside it.
import type { Migration } from "../migrate.ts";

const sql = `
create table resume_request (
  request_id   text    primary key collate "C",
  has_ended    boolean not null,
  requested_us bigint  not null,
  content      json    not null
);
create unique index resume_request_pending on resume_request (has_ended) where not has_ended;
comment on table resume_request is 'Requests to lift every halt; the one that has not ended waits for its co-signer.';

grant select, insert, update (has_ended, content) on resume_request to portcullis_app;
`;

export const resumesMigration: Migration = { number: 15, name: "resumes", sql };

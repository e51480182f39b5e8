// The seventieth step: submission files as they were sealed and sent, what the regulator said of them, and what people did about it.
//
//  1. Every row is inserted and never changed: where a file or a record stands follows from all of them.
//  2. A name stands for one content, for good.
import type { Migration } from "../migrate.ts";

const instant = "check (at_us between -9007199254740991 and 9007199254740991)";
const regime = "text not null check (regime in ('CAT', 'OATS', 'MIFID-II'))";

const sql = `
alter table filing_record add column number integer not null default 1 check (number >= 1);
alter table filing_record add column ends_at bigint not null default 0;
alter table filing_record add column reference text collate "C";
create index filing_record_reference on filing_record (regime, reference) where reference is not null;
create index filing_record_number on filing_record (regime, fund_id, submission_date, number, line);

create table filing_file (
  regime          ${regime},
  fund_id         text    not null collate "C",
  submission_date text    not null collate "C",
  number          integer not null check (number >= 1),
  mode            text    not null check (mode in ('LIVE', 'PAPER')),
  from_line       bigint  not null check (from_line >= 0),
  to_line         bigint  not null check (to_line > from_line),
  base            text    not null collate "C",
  name            text    not null collate "C",
  meta_name       text    collate "C",
  meta_text       text,
  bytes           bigint  not null,
  sha256          text    not null,
  content         bytea   not null,
  sealed_by       text    not null,
  at_us           bigint  not null ${instant},
  primary key (regime, fund_id, submission_date, number),
  constraint filing_file_base unique (base),
  constraint filing_file_name unique (name)
);
create trigger append_only before update or delete or truncate on filing_file for each statement execute function refuse_rewriting();
comment on table filing_file is 'Submission files as they were sealed, with their bytes. Rows are never changed or removed.';
grant select, insert on filing_file to portcullis_app;

create table filing_closing (
  regime          ${regime},
  fund_id         text    not null collate "C",
  submission_date text    not null collate "C",
  number          integer not null,
  at_us           bigint  not null ${instant},
  primary key (regime, fund_id, submission_date, number)
);
create trigger append_only before update or delete or truncate on filing_closing for each statement execute function refuse_rewriting();
comment on table filing_closing is 'Numbers of submission files that take no more lines, because they are being sealed. Rows are never changed or removed.';
grant select, insert on filing_closing to portcullis_app;

create table filing_sending (
  regime          ${regime},
  fund_id         text    not null collate "C",
  submission_date text    not null collate "C",
  number          integer not null,
  at_us           bigint  not null ${instant},
  how             text    not null check (how in ('SENT', 'THERE', 'BY_HAND')),
  sent_by         text    not null,
  primary key (regime, fund_id, submission_date, number, at_us)
);
create trigger append_only before update or delete or truncate on filing_sending for each statement execute function refuse_rewriting();
comment on table filing_sending is 'When sealed submission files reached the regulator. Rows are never changed or removed.';
grant select, insert on filing_sending to portcullis_app;

create table filing_feedback (
  regime          ${regime},
  name            text    not null collate "C",
  sha256          text    not null,
  bytes           bigint  not null,
  fund_id         text    collate "C",
  submission_date text    collate "C",
  number          integer,
  at_us           bigint  not null ${instant},
  content         json    not null,
  primary key (regime, name, sha256)
);
create index filing_feedback_of on filing_feedback (regime, fund_id, submission_date, number) where fund_id is not null;
create trigger append_only before update or delete or truncate on filing_feedback for each statement execute function refuse_rewriting();
comment on table filing_feedback is 'Feedback files that were read, with what they said. Rows are never changed or removed.';
grant select, insert on filing_feedback to portcullis_app;

create table filing_rejection (
  record_id    text   not null collate "C",
  error_roe_id text   not null collate "C",
  codes        json   not null,
  feedback     text   not null,
  at_us        bigint not null ${instant},
  primary key (record_id, error_roe_id)
);
create trigger append_only before update or delete or truncate on filing_rejection for each statement execute function refuse_rewriting();
comment on table filing_rejection is 'Records that a regulator rejected. Rows are never changed or removed.';
grant select, insert on filing_rejection to portcullis_app;

create table filing_correction (
  record_id     text   primary key collate "C",
  action        text   not null check (action in ('NEW', 'RPR', 'COR', 'DEL')),
  correction_id text   collate "C",
  corrected_by  text   not null,
  reason        text   not null,
  at_us         bigint not null ${instant}
);
create trigger append_only before update or delete or truncate on filing_correction for each statement execute function refuse_rewriting();
comment on table filing_correction is 'What people did about records for regulators. Rows are never changed or removed.';
grant select, insert on filing_correction to portcullis_app;
`;

export const filingFilesMigration: Migration = { number: 70, name: "filing-files", sql };

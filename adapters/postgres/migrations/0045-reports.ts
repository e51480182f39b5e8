// The forty-fifth step: the reports that were made, with their documents.
import type { Migration } from "../migrate.ts";

const sql = `
create table report (
  report_id    text   primary key collate "C",
  status       text   not null check (status in ('QUEUED', 'RUNNING', 'DONE', 'FAILED')),
  question     text   collate "C",
  requested_us bigint not null check (requested_us between -9007199254740991 and 9007199254740991),
  content      json   not null
);
create index report_age on report (requested_us desc, report_id desc);
create index report_unfinished on report (requested_us, report_id) where status in ('QUEUED', 'RUNNING');
create index report_answer on report (question, requested_us desc, report_id desc) where status = 'DONE';
comment on table report is 'Reports that were asked for, and what came of each. A question is what two reports have in common that differ in their facts alone.';
grant select, insert, update, delete on report to portcullis_app;

create table report_document (
  report_id text  not null collate "C" references report on delete cascade,
  format    text  not null check (format in ('html', 'pdf', 'json', 'csv')),
  content   bytea not null,
  primary key (report_id, format)
);
grant select, insert, update, delete on report_document to portcullis_app;
`;

export const reportsMigration: Migration = { number: 45, name: "reports", sql };

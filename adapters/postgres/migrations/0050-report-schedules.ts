// The fiftieth step: the runs of scheduled reports, and where each was delivered.
import type { Migration } from "../migrate.ts";

const sql = `
create table report_schedule (
  schedule text not null collate "C",
  fund_id  text not null collate "C",
  content  json not null,
  primary key (schedule, fund_id)
);
comment on table report_schedule is 'Up to which moment a schedule has its runs.';
grant select, insert, update, delete on report_schedule to portcullis_app;

create table report_run (
  run_id   text    primary key collate "C",
  schedule text    not null collate "C",
  fund_id  text    not null collate "C",
  due_us   bigint  not null check (due_us between -9007199254740991 and 9007199254740991),
  asked    boolean not null,
  status   text    not null check (status in ('DUE', 'MAKING', 'MADE', 'FAILED', 'MISSED')),
  version  integer not null,
  content  json    not null,
  constraint report_run_once unique (schedule, fund_id, due_us, asked)
);
create index report_run_age on report_run (due_us desc, run_id desc);
create index report_run_open on report_run (due_us, run_id) where status in ('DUE', 'MAKING');
comment on table report_run is 'One run for each schedule, fund and moment; those that people asked for are apart.';
grant select, insert, update, delete on report_run to portcullis_app;

create table report_delivery (
  run_id  text    not null collate "C" references report_run on delete cascade,
  target  text    not null check (target in ('email', 'chat', 'pdf-to-storage')),
  status  text    not null check (status in ('PENDING', 'DELIVERED', 'UNDELIVERED')),
  next_us bigint  not null check (next_us between -9007199254740991 and 9007199254740991),
  version integer not null,
  content json    not null,
  primary key (run_id, target)
);
create index report_delivery_open on report_delivery (next_us, run_id, target) where status = 'PENDING';
grant select, insert, update, delete on report_delivery to portcullis_app;
`;

export const reportSchedulesMigration: Migration = { number: 50, name: "report-schedules", sql };

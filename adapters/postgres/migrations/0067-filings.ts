// The sixty-seventh step: the records that are reported to regulators.
//
//  1. A row is inserted and never changed; the day's submission file is its image.
//  2. An event is one record of a regime, and a line of a file is one record's.
import type { Migration } from "../migrate.ts";

const sql = `
create table filing_record (
  record_id       text    primary key collate "C",
  regime          text    not null check (regime in ('CAT', 'OATS', 'MIFID-II')),
  fund_id         text    not null collate "C",
  submission_date text    not null collate "C",
  status          text    not null check (status in ('WRITTEN', 'QUARANTINED')),
  line            bigint  not null check (line >= 0),
  event_key       text    not null collate "C",
  order_id        text    not null collate "C",
  event_type      text    not null,
  late            boolean not null,
  event_us        bigint  not null check (event_us between -9007199254740991 and 9007199254740991),
  recorded_us     bigint  not null check (recorded_us between -9007199254740991 and 9007199254740991),
  source          text    not null,
  mode            text    not null check (mode in ('LIVE', 'PAPER')),
  line_text       text    not null,
  content         json    not null,
  constraint filing_record_once unique (regime, fund_id, event_key),
  constraint filing_record_line unique (regime, fund_id, submission_date, status, line)
);
create index filing_record_order on filing_record (fund_id, order_id, recorded_us);
create trigger append_only before update or delete or truncate on filing_record for each statement execute function refuse_rewriting();
comment on table filing_record is 'What was reported to regulators, or put aside because they would refuse it. Rows are never changed or removed.';
grant select, insert on filing_record to portcullis_app;
`;

export const filingsMigration: Migration = { number: 67, name: "filings", sql };

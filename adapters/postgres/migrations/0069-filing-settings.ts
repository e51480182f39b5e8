// The sixty-ninth step: what the configuration said of a fund's filings, and since when. A record is made again from them, byte for byte, long after they changed.
// And an index of the records that wait for an order.
import type { Migration } from "../migrate.ts";

const sql = `
create table filing_settings (
  fund_id text   not null collate "C",
  at_us   bigint not null check (at_us between -9007199254740991 and 9007199254740991),
  content json   not null,
  primary key (fund_id, at_us)
);
create trigger append_only before update or delete or truncate on filing_settings for each statement execute function refuse_rewriting();
comment on table filing_settings is 'What the configuration said of the filings of a fund from that moment on. Rows are never changed or removed.';
grant select, insert on filing_settings to portcullis_app;

create index filing_record_waiting on filing_record (fund_id, (content ->> 'waitsFor')) where (content ->> 'waitsFor') is not null;
`;

export const filingSettingsMigration: Migration = { number: 69, name: "filing-settings", sql };

// The forty-sixth step: bid and ask as order management saw them when it took an order in, sent it, booked a fill, and 300 seconds after each fill.
import type { Migration } from "../migrate.ts";

const sql = `
create table oms_quote (
  id        text   not null collate "C",
  moment    text   not null check (moment in ('CREATED', 'ROUTED', 'FILLED', 'AFTER_300S')),
  fund_id   text   not null collate "C",
  symbol    text   not null collate "C",
  wanted_us bigint not null check (wanted_us between -9007199254740991 and 9007199254740991),
  bid       text,
  ask       text,
  quoted_us bigint check (quoted_us between -9007199254740991 and 9007199254740991),
  primary key (id, moment),
  check ((bid is null) = (ask is null) and (bid is null) = (quoted_us is null))
);
create trigger append_only before update or delete or truncate on oms_quote
  for each statement execute function refuse_rewriting();
comment on table oms_quote is 'What the market quoted at the moments of an order and a fill; without bid and ask none was known then. Append only for everybody.';
grant select, insert on oms_quote to portcullis_app;

create table oms_quote_due (
  fill_id text   primary key collate "C",
  fund_id text   not null collate "C",
  symbol  text   not null collate "C",
  due_us  bigint not null check (due_us between -9007199254740991 and 9007199254740991)
);
create index oms_quote_due_first on oms_quote_due (due_us, fill_id);
comment on table oms_quote_due is 'Fills whose quote 300 seconds later is still to be kept.';
grant select, insert, delete on oms_quote_due to portcullis_app;
`;

export const keptQuotesMigration: Migration = { number: 46, name: "kept-quotes", sql };

// The sixty-fourth step: the market as it was heard, minute by minute and hour by hour, and its news, so that yesterday's chart stays what it was.
//
//  1. Rows are added and, when they are old, removed; none is ever changed. A row of no symbol says that somebody listened in that time.
//  2. Slices are a table of their own, because they are kept for days and minutes for months.
//  3. Fills are found by their fund and when they were recorded, and entries of the audit log by when they were made: a moment of the past is asked for by time.
import type { Migration } from "../migrate.ts";

const bar = `
  symbol      text           not null collate "C",
  start_us    bigint         not null check (start_us between -9007199254740991 and 9007199254740991),
  open        numeric(38,18) not null,
  high        numeric(38,18) not null,
  low         numeric(38,18) not null,
  close       numeric(38,18) not null,
  quote_count bigint         not null check (quote_count >= 0),
  source      text           not null,
  cut         boolean        not null`;

const sql = `
create table market_minute (${bar},
  primary key (symbol, start_us),
  check (low <= open and low <= close and high >= open and high >= close)
);
create index market_minute_age on market_minute (start_us);
comment on table market_minute is 'Bid and ask middles as they were heard, by the minute. Rows are never changed; old ones are removed.';

create table market_hour (${bar},
  minutes     integer        not null check (minutes between 1 and 60),
  primary key (symbol, start_us)
);
create index market_hour_age on market_hour (start_us);
comment on table market_hour is 'The minutes of an hour in one row, kept for good. Append only for everybody.';

create table market_slice (
  symbol   text   not null collate "C",
  start_us bigint not null,
  slices   json   not null,
  primary key (symbol, start_us)
);
create index market_slice_age on market_slice (start_us);
comment on table market_slice is 'What had been heard in the middle of a minute. Rows are never changed; old ones are removed.';

create table market_news (
  news_id     text   primary key collate "C",
  at_us       bigint not null check (at_us between -9007199254740991 and 9007199254740991),
  recorded_us bigint not null check (recorded_us between -9007199254740991 and 9007199254740991),
  content     json   not null
);
create index market_news_recorded on market_news (recorded_us, news_id);
comment on table market_news is 'News as they were heard. Rows are never changed; old ones are removed.';

create trigger append_only before update or truncate on market_minute for each statement execute function refuse_rewriting();
create trigger append_only before update or truncate on market_slice for each statement execute function refuse_rewriting();
create trigger append_only before update or truncate on market_news for each statement execute function refuse_rewriting();
create trigger append_only before update or delete or truncate on market_hour for each statement execute function refuse_rewriting();

grant select, insert, delete on market_minute, market_slice, market_news to portcullis_app;
grant select, insert on market_hour to portcullis_app;
`;

export const keptMarketMigration: Migration = { number: 64, name: "kept-market", sql };

// Where the numbering of foreign publishers stands: the last number of each source, fund and kind, and what is missing below it.
import type { Migration } from "../migrate.ts";

const sql = `
create table foreign_position (
  source  text   not null collate "C",
  fund_id text   not null collate "C",
  kind    text   not null check (kind in ('orders', 'fills', 'values')),
  last    bigint check (last between 0 and 9007199254740991),
  missing jsonb  not null default '[]' check (jsonb_typeof(missing) = 'array'),
  at_us   bigint not null check (at_us between -9007199254740991 and 9007199254740991),
  primary key (source, fund_id, kind)
);
comment on table foreign_position is
  'The last number heard of a foreign publisher, and the ranges below it that are missing: [{"from", "to", "since", "gap_id"}].';
create index foreign_position_gaps on foreign_position (source, fund_id, kind) where missing <> '[]';

create table foreign_unnumbered (
  source text   primary key collate "C",
  at_us  bigint not null check (at_us between -9007199254740991 and 9007199254740991)
);
comment on table foreign_unnumbered is 'Since when a foreign publisher has sent events without a number; it is reported once.';
grant select, insert, update on foreign_position to portcullis_app;
grant select, insert on foreign_unnumbered to portcullis_app;
`;

export const foreignPositionsMigration: Migration = { number: 51, name: "foreign-positions", sql };

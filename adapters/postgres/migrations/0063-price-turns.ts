// The sixty-third step: whose prices of a symbol count for which the reference data names nobody, so that a restart changes nobody's turn.
import type { Migration } from "../migrate.ts";

const sql = `
create table price_turn (
  symbol        text   primary key collate "C",
  first_source  text   not null,
  second_source text,
  changed       bigint not null check (changed > 0)
);
comment on table price_turn is 'Whose prices of a symbol count for which nobody is named. Written when somebody else begins to, never with a price.';
comment on column price_turn.second_source is 'Who took over while the first is out.';
comment on column price_turn.changed is 'Grows with each write, for those who read on.';
create index price_turn_by_change on price_turn (changed);
grant select, insert, update on price_turn to portcullis_app;
`;

export const priceTurnsMigration: Migration = { number: 63, name: "price-turns", sql };

// Orders that went from one source to another: by an admin who handed them over, or because nobody knew who had asked and the first that reported has them.
// And the journal keeps one more kind of entries: an operator's word that an order has ended.
//
// What carries weight elsewhere:
//  - The check is not validated: every row there is passed the narrower one before, and a journal may be long.
import type { Migration } from "../migrate.ts";

const sql = `
create table order_hand_over (
  number      bigint generated always as identity primary key,
  from_source text   not null collate "C",
  to_source   text   not null collate "C",
  order_id    text   collate "C",
  given_by    text   not null,
  reason      text   not null,
  at_us       bigint not null check (at_us between -9007199254740991 and 9007199254740991)
);
comment on table order_hand_over is 'Orders that went from one source to another, all that the first had by then, or one. Append only.';
comment on column order_hand_over.from_source is 'Empty where nobody knows who asked: the first source that reported on the order has it.';
create unique index order_hand_over_claim on order_hand_over (order_id) where from_source = '';
create index order_hand_over_by_order on order_hand_over (order_id);
create trigger append_only before update or delete or truncate on order_hand_over
  for each statement execute function refuse_rewriting();
grant select, insert on order_hand_over to portcullis_app;

alter table risk_journal drop constraint risk_journal_kind_check;
alter table risk_journal add constraint risk_journal_kind_check check (kind between 1 and 9) not valid;
comment on column risk_journal.kind is
  '1 decision (DecisionRecord bytes), 2 fill, 3 transition, 4 release, 5 expiry, 6 sent, 7 block, 8 unblock, 9 end (JSON).';
`;

export const orderOwnersMigration: Migration = { number: 61, name: "order-owners", sql };

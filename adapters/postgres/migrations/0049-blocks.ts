// The journal keeps two more kinds of entries: what an operator must accept before new risk, and its end. Fills are found by their order.
//
// What carries weight elsewhere:
//  - The check is not validated: every row there is passed the narrower one before, and a journal may be long.
import type { Migration } from "../migrate.ts";

const sql = `
alter table risk_journal drop constraint risk_journal_kind_check;
alter table risk_journal add constraint risk_journal_kind_check check (kind between 1 and 8) not valid;
comment on column risk_journal.kind is
  '1 decision (DecisionRecord bytes), 2 fill, 3 transition, 4 release, 5 expiry, 6 sent, 7 block, 8 unblock (JSON).';
create index risk_journal_fills_by_order on risk_journal (order_id) where kind = 2;
`;

export const blocksMigration: Migration = { number: 49, name: "blocks", sql };

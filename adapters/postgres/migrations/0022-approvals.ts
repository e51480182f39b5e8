// The journal keeps two more kinds of entries: approvals that ran out unsent, and their owners' word that they were sent.
//
// What carries weight elsewhere:
//  - The check is not validated: every row there is passed the narrower one before, and a journal may be long.
import type { Migration } from "../migrate.ts";

const sql = `
alter table risk_journal drop constraint risk_journal_kind_check;
alter table risk_journal add constraint risk_journal_kind_check check (kind between 1 and 6) not valid;
comment on column risk_journal.kind is
  '1 decision (DecisionRecord bytes), 2 fill, 3 transition, 4 release, 5 expiry, 6 sent (JSON).';
`;

export const approvalsMigration: Migration = { number: 22, name: "approvals", sql };

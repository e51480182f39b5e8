// The twenty-first step: how the audit log stands. Operations writes the one row about once a second; a risk engine that finds it old or broken
// takes no new risk.
import type { Migration } from "../migrate.ts";

const sql = `
create table audit_standing (
  one        boolean primary key default true check (one),
  pen        bigint  not null,
  through_us bigint  not null check (through_us between -9007199254740991 and 9007199254740991),
  broken     text,
  broken_us  bigint  check (broken_us between -9007199254740991 and 9007199254740991),
  constraint audit_standing_since check ((broken is null) = (broken_us is null))
) with (fillfactor = 10);
comment on table audit_standing is 'Up to when everything published is in the audit log, and what is wrong with the log.';

grant select, insert, update on audit_standing to portcullis_app;
`;

export const auditStandingMigration: Migration = { number: 21, name: "audit-standing", sql };

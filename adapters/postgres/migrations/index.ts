// Every step of the schema, in order. A released step is never edited; a change is a new file and a new line here.
import type { Migration } from "../migrate.ts";
import { outboxMigration } from "./0001-outbox.ts";
import { identityMigration } from "./0002-identity.ts";
import { riskMigration } from "./0003-risk.ts";
import { auditMigration } from "./0004-audit.ts";
import { subjectKeysMigration } from "./0005-subject-keys.ts";

export const migrations: readonly Migration[] = [
  outboxMigration,
  identityMigration,
  riskMigration,
  auditMigration,
  subjectKeysMigration,
];

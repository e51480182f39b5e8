// The nineteenth step: databases that were made while step 4 still needed a superuser get the function that new ones have. A dump of such a
// database can then be restored by a login that is none, and there is one schema to reason about.
import type { Migration } from "../migrate.ts";
import { repairIndexFunction } from "./0004-audit.ts";

export const auditRepairMigration: Migration = { number: 19, name: "audit-repair", sql: repairIndexFunction };

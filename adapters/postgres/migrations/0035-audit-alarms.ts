// The thirty-fifth step: the entries that tell of a raised alarm are found without reading the rest of the log.
import type { Migration } from "../migrate.ts";

const sql = `
create index audit_entry_alarms on audit_entry (sequence) where action = 'alarm.raised';
`;

export const auditAlarmsMigration: Migration = { number: 35, name: "audit-alarms", sql };

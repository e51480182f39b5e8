// The fortieth step: alerts that ended long ago are forgotten; what was reported of them stays in the audit log.
import type { Migration } from "../migrate.ts";

const sql = `
grant delete on oms_signal to portcullis_app;
`;

export const trimmedSignalsMigration: Migration = { number: 40, name: "trimmed-signals", sql };

// The fourteenth step: rows of idempotency keys may be removed, once no order counts under them any more.
import type { Migration } from "../migrate.ts";

const sql = `
grant delete on oms_key to portcullis_app;
comment on table oms_key is 'Written by whoever looks which order took the key, so that two at once are one after the other; removed when the key counts no more.';
`;

export const omsKeysMigration: Migration = { number: 14, name: "oms-keys", sql };

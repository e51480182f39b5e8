// The thirty-seventh step: the orders that were cancelled for a halt are counted without reading all that ever were.
import type { Migration } from "../migrate.ts";

const sql = `
create index oms_order_cancelled_for on oms_order ((content ->> 'cancelReason')) where state = 'CANCELLED';
`;

export const cancelledForMigration: Migration = { number: 37, name: "cancelled-for", sql };

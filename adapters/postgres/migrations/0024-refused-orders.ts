// Orders that order management refused by itself stand in the list of rejections beside the engine's own. The list is read newest first, so they
// have an index of their own.
import type { Migration } from "../migrate.ts";

const sql = `
create index oms_order_refused on oms_order (updated_us desc, order_id desc)
  where state = 'REJECTED'
    and content->>'code' in ('ORDER_HALTED', 'APPROVAL_OUTDATED', 'APPROVAL_EXPIRED', 'ORDER_CHECK_UNANSWERED');
`;

export const refusedOrdersMigration: Migration = { number: 24, name: "refused-orders", sql };

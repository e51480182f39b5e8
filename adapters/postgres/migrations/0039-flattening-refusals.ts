// Orders that were refused because a flatten closes their fund stand in the list of rejections too: its index has their code.
import type { Migration } from "../migrate.ts";

const sql = `
drop index oms_order_refused;
create index oms_order_refused on oms_order (updated_us desc, order_id desc)
  where state = 'REJECTED'
    and content->>'code' in
      ('ORDER_HALTED', 'ORDER_FUND_FLATTENING', 'APPROVAL_OUTDATED', 'APPROVAL_EXPIRED', 'APPROVAL_RELEASED',
       'ORDER_CHECK_UNANSWERED');
`;

export const flatteningRefusalsMigration: Migration = { number: 39, name: "flattening-refusals", sql };

// Orders whose approval was released before they were sent stand in the list of rejections too: its index has their code.
import type { Migration } from "../migrate.ts";

const sql = `
drop index oms_order_refused;
create index oms_order_refused on oms_order (updated_us desc, order_id desc)
  where state = 'REJECTED'
    and content->>'code' in
      ('ORDER_HALTED', 'APPROVAL_OUTDATED', 'APPROVAL_EXPIRED', 'APPROVAL_RELEASED', 'ORDER_CHECK_UNANSWERED');
`;

export const releasedApprovalsMigration: Migration = { number: 29, name: "released-approvals", sql };

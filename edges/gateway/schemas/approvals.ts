// Approvals over HTTP: what is reserved, order by order, and the release of one that was not sent.
import { z } from "zod";
import { idText } from "../../../contracts/src/records/fields.ts";
import { booleanAsked } from "./asked-boolean.ts";
import { timeText } from "./fields.ts";
import { anyFund } from "./orders.ts";

export const approvalsQuery = z.strictObject({
  fund_id: anyFund,
  unsent: booleanAsked()
    .optional()
    .meta({ description: "true lists only those of which nothing shows that they were sent." }),
});

export const approvalParams = z.strictObject({ order_id: idText.meta({ description: "The order." }) });

export const approvalAnswer = z.object({
  order_id: z.string(),
  fund_id: z.string(),
  strategy_id: z.string(),
  symbol: z.string(),
  side: z.string(),
  quantity: z.string(),
  filled_quantity: z.string(),
  reserved_quantity: z.string(),
  state: z.string().meta({ description: "UNSENT, AMENDMENT_UNSENT, SENT, EXPIRED, RELEASED or ENDED." }),
  valid_until: timeText.optional(),
  expires_at: timeText.optional(),
});

export const approvalsAnswer = z.array(approvalAnswer);

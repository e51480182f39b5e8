// Records about events of programs outside that did not enter.
import { z } from "zod";
import { countNumber, idText, instantText, nameText, reasonText } from "./fields.ts";

/** An event that was refused before it was published for its program: what it was, as far as it could be read, and why it is none. */
export const refusedForeignEvent = z.object({
  source: nameText,
  /** As its publisher sent it, or `unreadable`. */
  event_id: idText,
  /** The subject that it was for. */
  subject: z.string(),
  kind: z.enum(["orders", "fills", "values"]),
  fund_id: idText,
  /** Its number, where that could be read. */
  sequence: countNumber.optional(),
  /** Whether that number is used up. */
  number_used: z.boolean(),
  code: z.string(),
  reason: reasonText,
  /** What it said, cut to a bearable length. */
  payload: z.string().max(4_000),
  at: instantText,
});
export type RefusedForeignEvent = z.infer<typeof refusedForeignEvent>;

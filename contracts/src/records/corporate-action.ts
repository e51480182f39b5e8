// A corporate action that changes what one unit of an instrument is: a split, a change of symbol. It has one state after the other, each told by an event.
import { z } from "zod";
import { idText, instantText, nameText, reasonText, symbolText } from "./fields.ts";

export const actionKinds = ["SPLIT", "SYMBOL_CHANGE"] as const;

/** Announced: nothing is decided and nothing quoted in its symbols. Applied: our books have it. Done: so has everybody. */
export const actionStates = ["ANNOUNCED", "APPLIED", "DONE", "ABORTED"] as const;

/** So many new ones for so many old ones. */
const ratioNumbers = z.tuple([z.int().min(1).max(1_000), z.int().min(1).max(1_000)]);

/** What becomes of one instrument. */
export const actionLeg = z.object({
  symbol: symbolText,
  /** Its name afterwards; the same when it keeps it. */
  new_symbol: symbolText,
  /** By which quantities are multiplied, and prices. */
  quantity: ratioNumbers,
  price: ratioNumbers,
});
export type ActionLeg = z.infer<typeof actionLeg>;

export const corporateActionChanged = z.object({
  action_id: idText,
  kind: z.enum(actionKinds),
  symbol: symbolText,
  state: z.enum(actionStates),
  legs: z.array(actionLeg).min(1),
  booked_by: nameText,
  reason: reasonText,
  /** Why it was aborted. */
  note: z.string().max(2_000).optional(),
  at: instantText,
});
export type CorporateActionChanged = z.infer<typeof corporateActionChanged>;

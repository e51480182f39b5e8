// A corporate action: a split or a change of symbol, which change what one unit of an instrument is, or a cash dividend. It has one state after the other,
// each reported by an event.
import { z } from "zod";
import {
  currencyText,
  dateText,
  idText,
  instantText,
  nameText,
  positiveDecimalText,
  reasonText,
  symbolText,
} from "./fields.ts";

export const actionKinds = ["SPLIT", "SYMBOL_CHANGE", "CASH_DIVIDEND"] as const;

/**
 * Announced: nothing is decided and nothing quoted in its symbols. Applied: our books have it. Done: so has everybody.
 * A dividend is declared until its share goes ex; then it is due until it is paid.
 */
export const actionStates = ["ANNOUNCED", "APPLIED", "DONE", "ABORTED", "DECLARED", "EX"] as const;

/** So many new ones for so many old ones. */
const ratioNumbers = z.tuple([z.int().min(1).max(1_000), z.int().min(1).max(1_000)]);

/** What becomes of one instrument. */
const actionLeg = z.object({
  symbol: symbolText,
  /** Its name afterwards; the same when it keeps it. */
  new_symbol: symbolText,
  /** By which quantities are multiplied, and prices. */
  quantity: ratioNumbers,
  price: ratioNumbers,
});
export type ActionLeg = z.infer<typeof actionLeg>;

const actionDividend = z.object({
  per_share: positiveDecimalText,
  currency: currencyText,
  ex_date: dateText,
  /** Absent when it is paid as soon as the share goes ex. */
  pay_date: dateText.optional(),
  /** From when on the share is quoted without it. */
  ex_at: instantText,
});

export const corporateActionChanged = z.object({
  action_id: idText,
  kind: z.enum(actionKinds),
  symbol: symbolText,
  state: z.enum(actionStates),
  /** None of a dividend. */
  legs: z.array(actionLeg),
  dividend: actionDividend.optional(),
  booked_by: nameText,
  reason: reasonText,
  /** Why it was aborted. */
  note: z.string().max(2_000).optional(),
  at: instantText,
});
export type CorporateActionChanged = z.infer<typeof corporateActionChanged>;

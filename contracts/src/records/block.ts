// What keeps a fund from new risk until an operator accepts it: something that was booked because it is a fact, and that nobody has vouched for yet.
import { z } from "zod";
import { decimalText, idText, instantText, nameText, positiveDecimalText, reasonText, symbolText } from "./fields.ts";
import { fillKind } from "./order.ts";
import { side } from "./values.ts";

/**
 * FILL_OUTSIDE_COLLAR: a fill's price lies beyond the collar of the mark. ORDER_OVERFILLED: a fill that its order does not cover. FILL_NOT_JUDGED: there
 * was no price to hold the fill against; the next one settles it. FILLS_UNCHECKED: so many fills of the fund wait that the next ones block it as a whole.
 * EVENT_GAP: a foreign publisher's numbering skipped, and what it skipped has not come. FILLS_HELD: a fill of the fund cannot be taken, and those behind it
 * wait with it. FILL_WITHOUT_ORDER: a foreign fill of an order that was never asked about, in a fund that has a value. FILL_FEE_ODD and FILL_DATE_ODD: its fee
 * or its date cannot be an ordinary trade's. CROSS_ONE_LEG: the other leg of a foreign cross has not come. FILL_KIND_UNVOUCHED: a foreign fill that is no trade,
 * without what vouches for its kind. VALUE_UNEXPLAINED: a fund's value from outside that our own positions, fills and prices do not explain.
 */
const blockCause = z.enum([
  "FILL_OUTSIDE_COLLAR",
  "ORDER_OVERFILLED",
  "FILL_NOT_JUDGED",
  "FILLS_UNCHECKED",
  "EVENT_GAP",
  "FILLS_HELD",
  "FILL_WITHOUT_ORDER",
  "FILL_FEE_ODD",
  "FILL_DATE_ODD",
  "CROSS_ONE_LEG",
  "FILL_KIND_UNVOUCHED",
  "VALUE_UNEXPLAINED",
]);
export type BlockCause = z.infer<typeof blockCause>;

/** The fill that a block is about, as far as it is needed to judge it. */
const blockedFill = z.object({
  fill_id: idText,
  order_id: idText,
  price: decimalText,
  /** Whether its order is a marked exit, which has a wider collar. */
  is_exit: z.boolean(),
  /** What it moved, so that limits can be judged without it as well; absent in blocks from before this was kept. */
  side: side.optional(),
  quantity: positiveDecimalText.optional(),
  fee: decimalText.optional(),
  /** A trade when absent. */
  kind: fillKind.optional(),
  strategy_id: idText.optional(),
  /** The foreign program that published it; absent for those of our own order management. */
  published_by: nameText.optional(),
});
export type BlockedFill = z.infer<typeof blockedFill>;

/** Numbers of a foreign publisher that are missing, both ends included. */
const numberRange = z.object({ from: z.int(), to: z.int() });

/** A gap in a publisher's numbers, one for each source, fund and kind, as it stood when the block said so last. */
const blockedGap = z.object({
  source: nameText,
  kind: z.enum(["orders", "fills", "values"]),
  missing: z.array(numberRange).max(200),
  /** Those of them whose events were refused and did not use them up. */
  refused: z.array(z.object({ number: z.int(), code: nameText })).max(200),
  /** Later than the block's own time when more, or less, is missing by now. */
  as_of: instantText,
});
export type BlockedGap = z.infer<typeof blockedGap>;

/** A fund's value that nothing explains, and the last one that somebody vouched for. */
const blockedValue = z.object({
  nav: decimalText,
  net_flows: decimalText,
  as_of: instantText,
  vouched_nav: decimalText,
  vouched_net_flows: decimalText,
});

/** New risk is denied in the symbol, or in the whole fund where there is none. The same id again replaces cause, reason, fill and gap. */
export const riskBlock = z.object({
  block_id: idText,
  cause: blockCause,
  fund_id: idText,
  symbol: symbolText.optional(),
  fill: blockedFill.optional(),
  /** Of EVENT_GAP; absent in blocks of before it was kept. */
  gap: blockedGap.optional(),
  value: blockedValue.optional(),
  reason: reasonText,
  at: instantText,
});
export type RiskBlock = z.infer<typeof riskBlock>;

/** An operator accepted what it was about, or the engine settled it. */
export const riskBlockEnded = z.object({
  block_id: idText,
  cause: blockCause,
  fund_id: idText,
  symbol: symbolText.optional(),
  /** What of a gap an operator accepted; absent where it ended by itself. */
  accepted_missing: z.array(numberRange).max(200).optional(),
  ended_by: nameText,
  reason: reasonText,
  at: instantText,
});
export type RiskBlockEnded = z.infer<typeof riskBlockEnded>;

// Alerts of a charting platform: taken in, refused, or ended without an order that was approved.
import { z } from "zod";
import { countNumber, idText, instantText, lineText, reasonText } from "./fields.ts";

/** REFUSED at the door; or ACCEPTED, until its order stands (SUBMITTED) or it became none (FAILED). */
export const signalStatus = z.enum(["REFUSED", "ACCEPTED", "SUBMITTED", "FAILED"]);
export type SignalStatus = z.infer<typeof signalStatus>;

/** What its sender wrote, as far as it could be read. */
const sent = {
  strategy_id: lineText(128).optional(),
  symbol_sent: lineText(64).optional(),
  /** As it was translated. */
  symbol: lineText(64).optional(),
  side: lineText(64).optional(),
  quantity: lineText(64).optional(),
  idempotency_key: lineText(200).optional(),
};

/** An alert was accepted: it is stored, and becomes an order. */
export const signalReceived = z.object({
  signal_id: idText,
  source: lineText(64),
  fund_id: idText,
  ...sent,
  order_id: idText,
  /** When it fired, as it says itself. */
  alert_at: instantText.optional(),
  received_at: instantText,
  warnings: z.array(lineText(64)).max(10),
});
export type SignalReceived = z.infer<typeof signalReceived>;

/** A request at the webhook was refused. */
export const signalRefused = z.object({
  signal_id: idText,
  source: lineText(64),
  http_status: countNumber,
  code: lineText(64),
  detail: reasonText,
  /** Absent when it proved no secret. */
  fund_id: idText.optional(),
  ...sent,
  /** The signal that took its key. */
  duplicate_of: idText.optional(),
  received_at: instantText,
  /** Requests that proved no secret and were refused before this one without a record of their own. */
  unrecorded: countNumber.optional(),
});
export type SignalRefused = z.infer<typeof signalRefused>;

/** An accepted alert ended without an approval: its order was denied, or it became none. */
export const signalFailed = z.object({
  signal_id: idText,
  source: lineText(64),
  fund_id: idText,
  ...sent,
  order_id: idText,
  /** SUBMITTED when there is an order, which was denied. */
  status: signalStatus,
  code: lineText(64),
  detail: reasonText,
  at: instantText,
});
export type SignalFailed = z.infer<typeof signalFailed>;

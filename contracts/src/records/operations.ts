// What operations records and reports: audit entries, watchdog alarms, stops and differences with the broker.
import { z } from "zod";
import { countNumber, decimalText, hashText, idText, instantText, nameText, reasonText, symbolText } from "./fields.ts";
import { side, watchdogName } from "./values.ts";

/** Checked by hand: every entry is heard on the bus, and with the schema library's own check of JSON reading one takes three times as long. */
function isJson(value: unknown): boolean {
  if (typeof value !== "object") {
    return (
      typeof value === "string" || typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value))
    );
  }
  if (value === null) return true;
  if (Array.isArray(value)) return value.every(isJson);
  const prototype: unknown = Object.getPrototypeOf(value);
  return (prototype === Object.prototype || prototype === null) && Object.values(value).every(isJson);
}

/**
 * One link of the audit chain; its hash covers prev_hash and the canonical form of the six fields before it. An entry counts characters, and one
 * of them may be two units of a text here: every entry must pass.
 */
export const auditEntry = z.object({
  sequence: countNumber,
  timestamp: instantText,
  actor: z.string().min(1).max(512),
  action: z.string().min(1).max(256),
  subject_id: z.string().min(1).max(512),
  data: z.record(z.string(), z.unknown()).refine(isJson, "expected JSON"),
  prev_hash: hashText,
  hash: hashText,
});
export type AuditEntry = z.infer<typeof auditEntry>;

/** Measures how far the audit log is behind: whoever published it knows it again by its id. */
export const auditProgress = z.object({ beat_id: idText, at: instantText });
export type AuditProgress = z.infer<typeof auditProgress>;

/** An admin asked for a broken log to be closed and another to be begun. */
export const auditAnewRequested = z.object({
  request_id: idText,
  /** The number and the name of the log that is to be closed. */
  log: z.number().int().min(1),
  origin: z.string().max(256),
  reason: z.string().max(2_000),
  requested_by: nameText,
  expires_at: instantText,
  at: instantText,
});

/** A change that nobody audited is accepted as it stands. */
export const unauditedAccepted = z.object({
  change_id: idText,
  /** The table, and what the row is called. */
  table: nameText,
  row: z.string().max(1_000),
  found: z.enum(["added", "removed", "changed"]),
  request_id: idText,
  requested_by: nameText,
  cosigned_by: nameText,
  reason: reasonText,
  at: instantText,
});

/** What a caller appends; the sequencer adds the rest. */
export const auditAppend = z.strictObject({
  actor: nameText,
  action: nameText,
  subject_id: z.string().max(256),
  data: z.record(z.string(), z.json()),
});

/** A watchdog's judgement that somebody should know about. */
export const watchdogAlarm = z.object({
  watchdog: watchdogName,
  /** An alarm code of the registry. */
  code: z.string(),
  /** From leaving the ordinary state until being back in it; of a watchdog that gets no input, from then until it does. */
  episode_id: idText,
  /** What changed: only changes are events. */
  event: z.enum(["OPENED", "ESCALATED", "CLEARED", "STALE"]),
  state: z.enum(["WARN", "ACTION", "STALE", "OK"]),
  fund_id: idText.optional(),
  strategy_id: idText.optional(),
  symbol: symbolText.optional(),
  /** What was measured, the threshold it was held against, and how many samples it rests on; null when it cannot be computed. */
  value: z.number().nullable(),
  threshold: z.number(),
  /** Of value and threshold, for example "z" or "fraction". */
  unit: nameText,
  sample_count: countNumber,
  /** What it was computed from. */
  figures: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
  /** Restrictions that this episode has opened and not ended. */
  restriction_ids: z.array(idText),
  /** It belongs into the announcements as well. */
  cross_post: z.boolean(),
  /** It was only judged: nothing was restricted or halted. */
  dry_run: z.boolean(),
  /** It rests on observations that were injected into the paper platform. */
  injected: z.boolean(),
  /** How urgent it is to people. */
  level: z.enum(["info", "warning", "critical"]).optional(),
  /** What was done about it, in one sentence; empty when nothing. */
  action: reasonText,
  sentence: reasonText,
  at: instantText,
});
export type WatchdogAlarm = z.infer<typeof watchdogAlarm>;

/** A synthetic stop fired: the intent to close is durable from here on. */
export const stopTriggered = z.object({
  stop_id: idText,
  fund_id: idText,
  strategy_id: idText.optional(),
  symbol: symbolText,
  /** The closing order's side and size. */
  side,
  quantity: decimalText,
  fill_price: decimalText,
  trigger_price: decimalText,
  /** The bid for a long position, the ask for a short one. */
  observed_price: decimalText,
  observed_at: instantText,
  at: instantText,
});
export type StopTriggered = z.infer<typeof stopTriggered>;

/** An exit was handed in for a stop that fired; a stop may need several until one of them is confirmed. */
export const stopAttempted = z.object({
  stop_id: idText,
  fund_id: idText,
  strategy_id: idText,
  symbol: symbolText,
  /** Counts from 1. */
  attempt: countNumber,
  order_id: idText,
  quantity: decimalText,
  at: instantText,
});
export type StopAttempted = z.infer<typeof stopAttempted>;

/** A stop that fired is over: its exit is confirmed, there is nothing left to close, or an operator ended it. */
export const stopEnded = z.object({
  stop_id: idText,
  fund_id: idText,
  strategy_id: idText,
  symbol: symbolText,
  outcome: z.enum(["EXITED", "POSITION_GONE", "ENDED_BY_OPERATOR"]),
  exited_quantity: decimalText,
  ended_by: nameText.optional(),
  reason: reasonText.optional(),
  at: instantText,
});
export type StopEnded = z.infer<typeof stopEnded>;

/** Our position and the broker's differ, or no longer do. */
export const reconcileDifference = z.object({
  difference_id: idText,
  fund_id: idText,
  account: nameText,
  broker: nameText,
  symbol: symbolText,
  our_quantity: decimalText,
  broker_quantity: decimalText,
  class: z.enum(["LOST_FILL", "BROKER_LAG", "OFF_SYSTEM_TRADE", "CANCELLATION_RACE", "UNKNOWN"]),
  status: z.enum(["SUSPECTED", "CONFIRMED", "CLEARED", "CORRECTED"]),
  evidence: reasonText,
  /** People are to be told, because there were as many differences as an alert takes. */
  alerted: z.boolean().optional(),
  at: instantText,
});
export type ReconcileDifference = z.infer<typeof reconcileDifference>;

/** After a flatten: what was asked, what the broker says and when. `flat` is true only when a complete answer shows nothing. */
export const flatProved = z.object({
  proof_id: idText,
  fund_id: idText,
  account: nameText,
  broker: nameText,
  asked_by: nameText,
  /** Why somebody wanted to know. */
  reason: reasonText.optional(),
  /** What the broker was asked for, in this order. */
  asked: z.array(nameText).optional(),
  asked_at: instantText,
  broker_as_of: instantText,
  flat: z.boolean(),
  /** What is left, by symbol. */
  left: z.record(symbolText, decimalText),
  /** Orders that may still trade at the broker: with one of them nothing is flat for certain. */
  open_orders: countNumber.optional(),
  at: instantText,
});

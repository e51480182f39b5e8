// Halts: asked for, in force, and lifted by people.
import { z } from "zod";
import { lossLimits } from "../losses.ts";
import {
  countNumber,
  decimalText,
  factsRecord,
  idText,
  instantText,
  lineText,
  nameText,
  reasonText,
} from "./fields.ts";
import { severity } from "./values.ts";

const haltFields = {
  severity,
  /** The fund of a FUND_HALT, or of the halted strategy where it is known; may be empty for a FIRM_HALT, which covers all. */
  fund_id: z.union([idText, z.literal("")]),
  /** The strategy of a STRATEGY_HALT. */
  strategy_id: idText.optional(),
  reason: reasonText,
  /** The requesting service, or `operator:<name>`. */
  requested_by: nameText,
  /** The typed word (HALT) where a person asks. */
  confirmation: lineText(20).optional(),
  /** The figures that tripped it, when a machine asks. */
  evidence: factsRecord.optional(),
  /** The rest is set when the halt is latched. */
  halt_id: idText.optional(),
  epoch: countNumber.optional(),
  since: instantText.optional(),
  /** In the operators' list alone: what its CANCELLED step waits for while it is not proven. Nobody's claim of it is kept. */
  waiting_for: reasonText.optional(),
};

type HaltScope = {
  readonly severity: z.infer<typeof severity>;
  readonly fund_id: string;
  readonly strategy_id?: string | undefined;
};

/**
 * Refuses only a halt that does not say whom it halts. One that names more than its level needs is taken at its level: dropping the
 * widest halt because it says too much would be failing open.
 */
function checkScope(halt: HaltScope, context: z.RefinementCtx): void {
  if (halt.severity === "STRATEGY_HALT" && halt.strategy_id === undefined) {
    context.addIssue({ code: "custom", path: ["strategy_id"], message: "a STRATEGY_HALT names its strategy" });
  }
  if (halt.severity === "FUND_HALT" && halt.fund_id === "") {
    context.addIssue({ code: "custom", path: ["fund_id"], message: "a FUND_HALT names its fund" });
  }
}

export const haltRequest = z.strictObject(haltFields).superRefine(checkScope);
export type HaltRequest = z.infer<typeof haltRequest>;

/** A halt in force: the request with what the latch added. */
export const activeHalt = z
  .object({ ...haltFields, halt_id: idText, epoch: countNumber, since: instantText })
  .superRefine(checkScope);
export type ActiveHalt = z.infer<typeof activeHalt>;

export const haltResponse = z.object({
  halt_id: idText,
  /** Approvals that carry an older epoch are no longer good for sending in the halted scope. */
  epoch: countNumber,
  since: instantText,
  /** Every live engine confirmed the epoch, or its lease ran out. */
  acknowledged: z.boolean(),
  /** The event whose audit entry tells of this. */
  audit_id: z.string().optional(),
});
export type HaltResponse = z.infer<typeof haltResponse>;

export const resumeRequest = z.strictObject({
  /** One fund's or one strategy's halts; both absent asks to lift every halt, the firm's included. */
  fund_id: idText.optional(),
  strategy_id: idText.optional(),
  /** Why; a resume without a reason is refused. */
  reason: reasonText.optional(),
  /** The typed word, RESUME. */
  confirmation: lineText(20).optional(),
  /** `operator:<name>`; when given it must be the authenticated operator. */
  cosigned_by: nameText.optional(),
  /** The second factor's code, where the workflow asks for one. */
  one_time_code: lineText(20).optional(),
  /** A pending request that this one co-signs. */
  request_id: idText.optional(),
  /** The halts that the caller was shown; a change since then voids the request. */
  halt_ids: z.array(idText).max(10_000).optional(),
  /** Start loss baselines anew instead of keeping them. */
  rebase: z.boolean().optional(),
});
export type ResumeRequest = z.infer<typeof resumeRequest>;

/** What follows a latch, in this order; each is tried until it is proven. */
const haltStepName = z.enum(["BLOCKED", "CANCELLED", "NOTIFIED"]);
export type HaltStepName = z.infer<typeof haltStepName>;

const haltProgress = z.object({
  halt_id: idText,
  steps: z.array(z.object({ step: haltStepName, proven: z.boolean(), at: instantText.optional(), detail: z.string() })),
});

export const haltStatus = z.object({
  /** The scope that was asked about; empty for the firm. */
  fund_id: z.string(),
  halted: z.boolean(),
  /** The strictest level in force. */
  severity: severity.optional(),
  /** False when the halt state could not be read; then `halted` is true. */
  known: z.boolean(),
  epoch: countNumber,
  halts: z.array(activeHalt),
  /** A resume that waits for its co-signer. */
  request_id: idText.optional(),
  as_of: instantText,
  /** How far what follows each latch has come. */
  progress: z.array(haltProgress).optional(),
  /** The strategies that may trade again once these halts are lifted, as far as no other halt covers them. */
  restarts: z.array(idText).optional(),
  /** After a resume, and of the pending request. */
  baseline: z.enum(["kept", "rebased"]).optional(),
  audit_id: z.string().optional(),
  /** Of the pending request. */
  expires_at: instantText.optional(),
  lifted_halt_ids: z.array(idText).optional(),
  /** Of the pending request. */
  requested_by: z.string().optional(),
  reason: z.string().optional(),
  /** Where people are notified: the chat's name, or `log`. */
  notified_by: z.string().optional(),
});
export type HaltStatus = z.infer<typeof haltStatus>;

/** One halt was lifted; every halt that a resume lifts has its own. */
export const haltLifted = z.object({
  halt_id: idText,
  severity,
  fund_id: z.string(),
  strategy_id: idText.optional(),
  /** The epoch that the lift made current. */
  epoch: countNumber,
  reason: reasonText,
  requested_by: nameText,
  /** `operator:<name>`. */
  cosigned_by: nameText,
  /** Which loss baseline applies from now on. */
  baseline: z.enum(["kept", "rebased"]),
  lifted_at: instantText,
});
export type HaltLifted = z.infer<typeof haltLifted>;

/** A step that follows a latch was proven. */
export const haltStep = z.object({
  halt_id: idText,
  step: haltStepName,
  /** What was seen. */
  detail: z.string().max(2_000),
  /** Milliseconds since the latch. */
  after_ms: z.number().min(0),
  at: instantText,
});
export type HaltStep = z.infer<typeof haltStep>;

/** An operator asked to lift every halt; another one must sign it, as long as nothing has changed. */
export const resumeRequested = z.object({
  request_id: idText,
  halt_ids: z.array(idText).max(10_000),
  /** As it was when the halts were shown. */
  epoch: countNumber,
  reason: reasonText,
  requested_by: nameText,
  rebase: z.boolean(),
  expires_at: instantText,
  at: instantText,
});
export type ResumeRequested = z.infer<typeof resumeRequested>;

/** A request to lift every halt is over. */
export const resumeEnded = z.object({
  request_id: idText,
  outcome: z.enum(["lifted", "void", "expired", "replaced"]),
  /** Who co-signed, or whose act ended it. */
  ended_by: nameText,
  at: instantText,
});
export type ResumeEnded = z.infer<typeof resumeEnded>;

/** An operator asked for every position of the paper funds to be closed. */
export const flattenRequested = z.object({
  flatten_id: idText,
  /** Those whose positions are to be closed. */
  fund_ids: z.array(idText).max(100_000),
  requested_by: nameText,
  reason: reasonText,
  positions: countNumber,
  /** Open orders that are no exits and are cancelled. */
  orders: countNumber.optional(),
  at: instantText,
});

/** One position of a flatten moved on. */
export const flattenLine = z.object({
  flatten_id: idText,
  fund_id: idText,
  strategy_id: idText,
  symbol: z.string(),
  state: z.enum(["OWED", "EXITING", "FLAT"]),
  order_id: idText.optional(),
  attempts: countNumber,
  detail: z.string().max(2_000),
  at: instantText,
});

/** A drill: a halt of the drill scope, and how long each step after it took. */
export const drillMeasured = z.object({
  drill_id: idText,
  halt_id: idText,
  requested_by: nameText,
  reason: reasonText,
  latched_ms: z.number().min(0).optional(),
  blocked_ms: z.number().min(0).optional(),
  cancelled_ms: z.number().min(0).optional(),
  notified_ms: z.number().min(0).optional(),
  passed: z.boolean(),
  complaint: z.string().max(2_000),
  at: instantText,
});
export type DrillMeasured = z.infer<typeof drillMeasured>;

/** An operator had the five services restarted. */
export const restartRequested = z.object({
  requested_by: nameText,
  reason: reasonText,
  at: instantText,
});

/** From where on a loss is counted. Written once for every period; another one of the same period only by an operator's choice. */
export const lossBaseline = z.object({
  fund_id: idText,
  /** Of a strategy's own loss. */
  strategy_id: idText.optional(),
  limit: z.enum(lossLimits),
  /** The trading day, its week's Monday or its month's first; `always` where there is none. */
  period: z.string().max(40),
  /** 0 is the first; each choice to rebase adds one. */
  version: countNumber,
  /** The value that losses are counted from (a strategy's: its profit so far), and the flows up to then. */
  value: decimalText,
  net_flows: decimalText,
  /** The valuation that it is from. */
  valued_at: instantText,
  set_by: nameText,
  reason: reasonText,
  at: instantText,
});
export type LossBaseline = z.infer<typeof lossBaseline>;

/** A fund's losses could not be judged in full for a minute, because its value or a price in it is old. */
export const lossesUnjudged = z.object({
  fund_id: idText,
  /** Since when. */
  since: instantText,
  reason: reasonText,
  at: instantText,
});
export type LossesUnjudged = z.infer<typeof lossesUnjudged>;

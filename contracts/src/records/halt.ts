// Halts: asked for, in force, and lifted by people.
import { z } from "zod";
import { countNumber, factsRecord, idText, instantText, lineText, nameText, reasonText } from "./fields.ts";
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
  /** The second factor's code, where the ladder asks for one. */
  one_time_code: lineText(20).optional(),
  /** A pending request that this one co-signs. */
  request_id: idText.optional(),
  /** The halts that the caller was shown; a change since then voids the request. */
  halt_ids: z.array(idText).max(10_000).optional(),
  /** Start loss baselines anew instead of keeping them. */
  rebase: z.boolean().optional(),
});
export type ResumeRequest = z.infer<typeof resumeRequest>;

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

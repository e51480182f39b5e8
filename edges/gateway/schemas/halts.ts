// Halts, lifting them, losses, flattening and drills, over HTTP. Whether a confirmation, a reason or a code is missing is for the services to say, each
// with its own code: a request that was refused because of one is an attempt, and stands in the record.
import { z } from "zod";
import type { HaltRequest, HaltResponse, HaltStatus } from "../../../contracts/src/generated/svc/v1/halt.ts";
import type { Drill } from "../../../contracts/src/generated/svc/v1/haltdesk.ts";
import { countNumber, decimalText, factsRecord, idText, symbolText } from "../../../contracts/src/records/fields.ts";
import { haltStepName } from "../../../contracts/src/records/halt.ts";
import { orderState, severity } from "../../../contracts/src/records/values.ts";
import { wholeAsked } from "./asked-numbers.ts";
import { confirmed, timeText } from "./fields.ts";
import { anyFund, reasonBody } from "./orders.ts";

const auditId = z.string().optional().meta({ description: "The event whose audit entry tells of this." });

type Named = { readonly id?: string | undefined } & Partial<Record<"severity" | "fund_id" | "strategy_id", unknown>>;

/** Two names for what is meant may mean two things, and the smaller of them must not win in silence. */
const isNamedOnce = ({ id, severity: level, fund_id, strategy_id }: Named): boolean =>
  id === undefined || [level, fund_id, strategy_id].every((other) => other === undefined);
const namedTwice = { path: ["id"], message: "expected id alone, or fund and strategy without it" };

export const haltBody = z
  .strictObject({
    id: idText
      .optional()
      .meta({ description: "A fund or a strategy; everything when absent, unless severity says otherwise." }),
    severity: severity
      .optional()
      .meta({ description: "The level, for callers that name fund and strategy themselves." }),
    fund_id: z.union([idText, z.literal("")]).optional(),
    strategy_id: idText.optional(),
    // However long: a halt is not refused for its reason, and what is too much of it is cut.
    reason: z.string().optional().meta({ description: "Why, in your words; `manual` when absent." }),
    confirmation: confirmed("HALT"),
    halt_id: idText.optional().meta({ description: "Your own name for it: the same one twice is one halt." }),
  })
  .refine(isNamedOnce, namedTwice);

export const haltAnswer = z.object({
  halt_id: idText,
  epoch: countNumber,
  since: timeText,
  acknowledged: z.boolean().meta({
    description: "True when every live risk engine blocks. False: it is latched, and that is tried until it is so.",
  }),
  audit_id: auditId,
});

const haltRecord = z.object({
  severity,
  fund_id: z.string(),
  strategy_id: z.string().optional(),
  reason: z.string(),
  requested_by: z.string(),
  confirmation: z.string().optional(),
  evidence: factsRecord.optional().meta({ description: "The figures that tripped it." }),
  halt_id: idText.optional(),
  epoch: countNumber.optional(),
  since: timeText.optional(),
});

export const haltsAnswer = z.array(haltRecord).meta({ description: "Every halt in force, oldest first." });

export const haltStatusQuery = z.strictObject({
  id: idText.optional().meta({ description: "A fund or a strategy; everything when absent." }),
});

export const haltStatusAnswer = z.object({
  fund_id: z.string().meta({ description: "The fund that was asked about, or the strategy's; empty for everything." }),
  strategy_id: z.string().optional(),
  halted: z.boolean(),
  severity: severity.optional().meta({ description: "The strictest level in force." }),
  known: z.boolean().meta({ description: "False when the halts could not be read; then halted is true." }),
  epoch: countNumber,
  halts: z.array(haltRecord),
  progress: z.array(
    z.object({
      halt_id: idText,
      steps: z.array(
        z.object({ step: haltStepName, proven: z.boolean(), at: timeText.optional(), detail: z.string() }),
      ),
    }),
  ),
  restarts: z.array(z.string()).meta({ description: "Strategies that may trade again once these halts are lifted." }),
  request_id: z.string().optional().meta({ description: "A request to lift everything that waits for its co-signer." }),
  expires_at: timeText.optional(),
  requested_by: z.string().optional().meta({ description: "Who asks for everything to be lifted." }),
  reason: z.string().optional().meta({ description: "Why they ask for it." }),
  baseline: z.enum(["kept", "rebased"]).optional().meta({
    description:
      "After a resume, and of a request that waits: whether losses go on being counted from where they were, or from now.",
  }),
  lifted_halt_ids: z.array(z.string()),
  audit_id: auditId,
  as_of: timeText,
});

export const resumeBody = z
  .strictObject({
    id: idText.optional().meta({ description: "A fund or a strategy; every halt when absent." }),
    fund_id: idText.optional(),
    strategy_id: idText.optional(),
    reason: reasonBody,
    confirmation: confirmed("RESUME"),
    cosigned_by: z.string().max(256).optional().meta({ description: "When given it must be you." }),
    one_time_code: z
      .string()
      .max(20)
      .optional()
      .meta({ description: "Of your second factor, where one is asked for." }),
    request_id: idText.optional().meta({ description: "The request of another operator that this one signs." }),
    halt_ids: z.array(idText).max(10_000).optional().meta({ description: "What you were shown; a change voids this." }),
    rebase: z.boolean().optional().meta({ description: "Count losses from now on instead of keeping the baseline." }),
  })
  .refine(isNamedOnce, namedTwice);

export const lossesQuery = z.strictObject({ fund_id: anyFund });

export const lossesAnswer = z.array(
  z.object({
    fund_id: idText,
    strategy_id: z.string().optional(),
    limit: z
      .string()
      .meta({ description: "daily, weekly, monthly, rolling_24h, rolling_5d, high_water, strategy or equity." }),
    period: z.string(),
    baseline: decimalText.optional().meta({ description: "Absent, like the figures, where nothing can be counted." }),
    value: decimalText.optional(),
    loss: decimalText.optional(),
    loss_pct: z.number().optional().meta({ description: "Of the baseline, as a fraction." }),
    limit_pct: z.number().optional().meta({ description: "A loss equal to it halts; absent when the limit is off." }),
    state: z.enum(["JUDGED", "PENDING", "BREACHED", "RESUMED", "NOT_JUDGED"]).meta({
      description:
        "BREACHED while its halt is in force, RESUMED when that was lifted with the baseline kept. With PENDING and NOT_JUDGED the fund takes no new risk.",
    }),
    halts_again_at: decimalText
      .optional()
      .meta({ description: "Of RESUMED: the value, or the strategy's profit, with which it halts again." }),
    reason: z.string().optional().meta({ description: "Of NOT_JUDGED: why, and what ends it." }),
    baseline_at: timeText.optional(),
    rebased_by: z.string().optional(),
    as_of: timeText.optional().meta({ description: "The newest valuation; absent while there was none." }),
  }),
);

export const flattenBody = z.strictObject({
  fund_id: idText.optional().meta({ description: "Only this paper fund; every one when absent." }),
  confirmation: confirmed("FLATTEN"),
  reason: reasonBody,
});

export const flattenQuery = z.strictObject({
  flatten_id: idText.optional().meta({ description: "The newest one when absent." }),
});

export const flattenAnswer = z.object({
  flatten_id: idText,
  requested_by: z.string(),
  reason: z.string(),
  requested_at: timeText,
  done_at: timeText.optional().meta({
    description: "When the broker had called every fund flat; absent until then.",
  }),
  lines: z.array(
    z.object({
      fund_id: idText,
      strategy_id: idText,
      symbol: symbolText,
      quantity: decimalText.meta({ description: "What was held when it was asked; negative when short." }),
      state: z.enum(["OWED", "EXITING", "FLAT"]),
      order_id: z.string().optional(),
      attempts: countNumber,
      complaint: z.string().optional().meta({ description: "Why it is not done yet." }),
      at: timeText,
    }),
  ),
  orders: z
    .array(
      z.object({
        fund_id: idText,
        strategy_id: idText,
        symbol: symbolText,
        order_id: idText,
        side: z.string(),
        quantity: z.string(),
        filled_quantity: decimalText,
        state: orderState,
        complaint: z.string().optional().meta({ description: "Why it is not gone yet." }),
        at: timeText,
      }),
    )
    .meta({ description: "Orders that were open when it was asked and are no exits: they are cancelled." }),
  funds: z.array(
    z.object({
      fund_id: idText,
      state: z.enum(["OPEN", "UNPROVED", "NOT_FLAT", "FLAT"]).meta({
        description:
          "OPEN while a line or an order of it is; UNPROVED until the broker has said what is left; NOT_FLAT when something is.",
      }),
      left: z.array(z.object({ symbol: symbolText, quantity: decimalText })),
      open_orders: countNumber.meta({ description: "Orders that may still trade at the broker." }),
      proof_id: z.string().optional(),
      asked_at: timeText.optional().meta({ description: "When the broker was last asked." }),
      next_step: z.string().optional().meta({ description: "What a person does about a fund that is not flat." }),
    }),
  ),
  audit_id: auditId,
});

export const drillBody = z.strictObject({ reason: reasonBody });
export const drillsQuery = z.strictObject({
  count_max: wholeAsked(1, 1_000).optional().meta({ description: "At most this many; 100 when absent." }),
});

export const drillAnswer = z.object({
  drill_id: idText,
  halt_id: z.string().optional(),
  requested_by: z.string(),
  reason: z.string(),
  at: timeText,
  latched_ms: z
    .number()
    .optional()
    .meta({ description: "Milliseconds from the request; absent when it did not happen." }),
  blocked_ms: z.number().optional(),
  cancelled_ms: z.number().optional(),
  notified_ms: z.number().optional(),
  passed: z.boolean(),
  complaint: z.string().optional(),
});

export const drillsAnswer = z.array(drillAnswer).meta({ description: "Newest first." });

export const restartBody = z.strictObject({ reason: reasonBody });

export const restartAnswer = z.object({
  services: z.array(
    z.object({
      service: z.string(),
      healthy: z.boolean(),
      complaint: z.string().optional().meta({ description: "Why it is not healthy." }),
      pid: countNumber.optional().meta({ description: "Absent while not all of them are back." }),
      took_ms: z.number().optional().meta({ description: "Until it was ready again." }),
    }),
  ),
  restarted: z.boolean().meta({ description: "Whether all of them were restarted in time; else it goes on." }),
  audit_id: auditId,
});

// On the wire what is not there is an empty text; in JSON it is not there.

export function toldHalt(halt: HaltRequest): object {
  return { ...halt, strategy_id: orNothing(halt.strategy_id ?? "") };
}

export function toldResponse(response: HaltResponse): object {
  return { ...response, audit_id: orNothing(response.audit_id) };
}

export function toldStatus(status: HaltStatus, strategyId?: string): object {
  return { ...status, strategy_id: strategyId, halts: status.halts.map(toldHalt) };
}

export function toldDrill(drill: Drill): object {
  return { ...drill, halt_id: orNothing(drill.halt_id), complaint: orNothing(drill.complaint) };
}

function orNothing(text: string): string | undefined {
  return text === "" ? undefined : text;
}

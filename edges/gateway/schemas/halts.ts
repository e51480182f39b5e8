// Halting, lifting and restarting over HTTP. Whether a confirmation, a reason or a code is missing is for the services to say, each
// with its own code: a request that was refused because of one is an attempt, and stands in the record.
import { z } from "zod";
import { atMost } from "../../../contracts/src/bounds/at-most.ts";
import type { HaltStatus } from "../../../contracts/src/generated/svc/v1/halt.ts";
import { countNumber, idText } from "../../../contracts/src/records/fields.ts";
import { severity } from "../../../contracts/src/records/values.ts";
import { asItIs, typed } from "../../../contracts/src/text/typed.ts";
import { jsonMessage, objectAnswer } from "../declared/answers.ts";
import { mostIn } from "../declared/most.ts";
import { confirmed } from "./fields.ts";
import { reasonBody } from "./orders.ts";

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
    reason: atMost(typed(z.string()), { characters: 1_048_576 })
      .optional()
      .meta({ description: "Why, in your words; `manual` when absent." }),
    confirmation: confirmed("HALT"),
    halt_id: idText.optional().meta({ description: "Your own name for it: the same one twice is one halt." }),
  })
  .refine(isNamedOnce, namedTwice)
  .meta({ id: "HaltBody", description: "Whom to halt, and why." });

export const haltStatusQuery = z.strictObject({
  id: idText.optional().meta({ description: "A fund or a strategy; everything when absent." }),
});

export const resumeBody = z
  .strictObject({
    id: idText.optional().meta({ description: "A fund or a strategy; every halt when absent." }),
    fund_id: idText.optional(),
    strategy_id: idText.optional(),
    reason: reasonBody,
    confirmation: confirmed("RESUME"),
    cosigned_by: asItIs(z.string().max(256), "names what exists")
      .optional()
      .meta({ description: "When given it must be you." }),
    one_time_code: asItIs(z.string().max(20), "a proof")
      .optional()
      .meta({ description: "Of your second factor, where one is asked for." }),
    request_id: idText.optional().meta({ description: "The request of another operator that this one signs." }),
    halt_ids: z
      .array(idText)
      .max(mostIn("ResumeRequest", "halt_ids"))
      .optional()
      .meta({ description: "What you were shown; a change voids this." }),
    rebase: z.boolean().optional().meta({
      description:
        "Count losses from now on instead of keeping the baseline; for a fund or a strategy a risk officer's, with a code.",
    }),
  })
  .refine(isNamedOnce, namedTwice)
  .meta({ id: "ResumeRequest", description: "Which halts to lift, and why." });

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
  audit_id: z.string().optional().meta({ description: "The event whose audit entry tells of this." }),
});

/** With the strategy that was asked about, which the message does not name. */
export const haltStatusAnswer = objectAnswer("HaltStatus").extend({ strategy_id: z.string().optional() });

export function haltStatusBody(status: HaltStatus, strategyId?: string): object {
  const reported = jsonMessage("HaltStatus", status);
  return strategyId === undefined ? reported : { ...reported, strategy_id: strategyId };
}

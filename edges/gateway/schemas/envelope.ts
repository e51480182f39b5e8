// A fund's limits over HTTP. Answers are the contracts' record; what is asked for is only held to its types here, because ranges and sense are
// the engine's to judge, and a mistake must have one code (ENVELOPE_INVALID) on every surface.

import { z } from "zod";
import { atMost } from "../../../contracts/src/bounds/at-most.ts";
import type { RiskEnvelope as EnvelopeMessage } from "../../../contracts/src/generated/svc/v1/envelope.ts";
import { riskEnvelope } from "../../../contracts/src/records/envelope.ts";
import { countNumber, idText } from "../../../contracts/src/records/fields.ts";
import { asItIs, typed } from "../../../contracts/src/text/typed.ts";
import { type EnvelopeFieldName, envelopeFields } from "../../words/envelope-fields.ts";
import { mostIn } from "../declared/most.ts";
import { timeText } from "./fields.ts";
import { proofText } from "./second-factor.ts";

const sentences = new Map<string, string>(
  envelopeFields.map((field) => [
    field.name,
    "absent" in field ? `${field.sentence} ${field.absent} when absent.` : field.sentence,
  ]),
);

/** The same schemas, each with its field's sentence. */
function described<Shape extends z.core.$ZodLooseShape>(shape: Shape): Shape {
  const entries = Object.entries(shape).map(([name, schema]) => {
    const description = sentences.get(name);
    return [name, description === undefined ? schema : (schema as z.ZodType).meta({ description })];
  });
  return Object.fromEntries(entries) as Shape;
}

const fundIdText = idText.meta({ description: "The fund." });
export const fundParams = z.strictObject({ fund_id: fundIdText });

export const envelopeAnswer = z
  .object(described(riskEnvelope.shape))
  .meta({ id: "RiskEnvelope", description: "A fund's limits. Every _pct is a fraction: 0.07 is 7 %." });

const uint32 = z.int().min(0).max(4_294_967_295).optional();
const limit = z.number().optional();
const names = (field: "allowed_brokers" | "allowed_order_types" | "allowed_asset_classes") =>
  z.array(asItIs(z.string().max(1_000), "names what exists")).max(mostIn("RiskEnvelope", field));

/** By kind of field; what may be absent on the wire may be absent here. Lists may not: an absent one would read as empty. */
const limits = {
  max_position_pct: limit,
  max_gross_exposure_pct: limit,
  max_net_exposure_pct: limit,
  sector_limits_pct: atMost(z.record(asItIs(z.string().max(1_000), "names what exists"), z.number()), {
    members: mostIn("RiskEnvelope", "sector_limits_pct"),
  }),
  max_notional: limit,
  allowed_brokers: names("allowed_brokers"),
  allowed_order_types: names("allowed_order_types"),
  allowed_asset_classes: names("allowed_asset_classes"),
  price_collar_pct: limit,
  exit_collar_pct: limit,
  order_rate_max_per_s: uint32,
  repeated_execution_max: uint32,
  repeated_execution_window_s: uint32,
  shorting_enabled: z.boolean().optional(),
  max_stress_loss_pct: limit,
  strict_sides: z.boolean().optional(),
  max_borrow_fee_pct: limit,
  daily_loss_halt_pct: limit,
  weekly_loss_halt_pct: limit,
  monthly_loss_halt_pct: limit,
  strategy_loss_halt_pct: limit,
  rolling_24h_loss_halt_pct: limit,
  rolling_5d_loss_halt_pct: limit,
  high_water_loss_halt_pct: limit,
  synthetic_stop_pct: limit,
  halt_allow_reduce_only: z.boolean().optional(),
  cro_veto_enabled: z.boolean().optional(),
  cro_veto_timeout_ms: uint32,
  cro_veto_on_timeout: asItIs(z.string().max(100), "a word that is compared").optional(),
} as const satisfies Readonly<Record<EnvelopeFieldName, z.ZodType>>;

/** What an envelope that was read carries besides its limits, so that one may send it back changed. */
const written = asItIs(atMost(z.string(), { characters: 1_000 }), "not read");
const carried = {
  updated_by: written.optional().meta({ description: "Not read: the engine writes who set this version." }),
  updated_at: written.optional().meta({ description: "Not read: the engine writes when." }),
  loosening: asItIs(
    atMost(z.unknown(), { any: { values: mostIn("EnvelopeLoosening", "fields"), characters: 262_144 } }),
    "not read",
  )
    .optional()
    .meta({ description: "Not read: the engine writes what a version loosens." }),
  hash: written.optional().meta({ description: "Not read: the engine computes it." }),
};

const reason = typed(z.string().max(10_000))
  .optional()
  .meta({ description: "Why, in your words; it stands in the record." });

export const updateEnvelopeBody = z
  .strictObject({
    fund_id: fundIdText.optional().meta({ description: "The fund again; when it is given it must be the path's." }),
    version: countNumber.meta({ description: "The current version plus 1; anything else is a conflict." }),
    ...described(limits),
    reason,
    ...carried,
    step_up_proof: proofText.optional().meta({
      description:
        "For a change that loosens: the proof that a step-up for UpdateEnvelope gave, whose parameters are this body without it and without updated_by, updated_at, loosening and hash, and with fund_id.",
    }),
  })
  .meta({ id: "RiskEnvelopeUpdate", description: "A fund's limits as they are to be, all of them." });

const proposedEnvelope = z
  .strictObject({
    fund_id: fundIdText.optional(),
    version: countNumber.optional().meta({ description: "Not judged; a proposal has no version yet." }),
    ...described(limits),
    reason,
    ...carried,
  })
  .meta({ id: "ProposedEnvelope", description: "The limits as they would be, all of them." });

type Asked = z.infer<typeof proposedEnvelope>;

/** The message that the services read; what the engine writes itself is left out. */
export function envelopeMessage(fundId: string, asked: Asked): EnvelopeMessage {
  const { updated_by: _by, updated_at: _at, loosening: _loosening, hash: _hash, version = 0, ...rest } = asked;
  return { ...rest, fund_id: fundId, version };
}

export const diffEnvelopesBody = z
  .strictObject({
    from_version: countNumber.optional().meta({ description: "The version before; the current one when absent." }),
    to_version: countNumber.optional().meta({ description: "The version after." }),
    proposed: proposedEnvelope.optional(),
  })
  .refine((body) => body.to_version === undefined || body.proposed === undefined, {
    message: "expected at most one of to_version and proposed",
  });

export const replayEnvelopeBody = z.strictObject({
  proposed: proposedEnvelope,
  from: timeText.optional().meta({ description: "The first moment; 24 hours ago when absent." }),
  to: timeText.optional().meta({ description: "The last moment; now when absent." }),
  count_max: uint32.meta({ description: "How many changes are listed at most; all are counted." }),
});

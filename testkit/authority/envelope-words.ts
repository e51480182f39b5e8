// What a change of a fund's limits does, declared once for every field of the envelope: docs/authority.md shows it, and core/envelope/changes.ts judges by it
// (changes.test.ts holds the two against each other). A field that is added to the envelope has to get its word here; what has none loosens.
import type { RiskEnvelope } from "../../contracts/src/records/envelope.ts";

/** When a change of the field loosens; NEVER of what the engine writes, or what names the envelope. */
type EnvelopeLoosens =
  | "NEVER"
  | "HIGHER"
  | "HIGHER OR ABSENT"
  | "MORE"
  | "TRUE"
  | "NOT TRUE"
  | "WIDER; NARROWER TOO WHERE ORDERS WITHOUT A PRICE ARE ALLOWED"
  | "SHORTER WHERE SILENCE PASSES"
  | "SILENCE PASSES"
  | "SHORTER";

interface EnvelopeWord {
  readonly loosens: EnvelopeLoosens;
  /** It takes the second factor in either direction: narrowed, it can lock positions in. */
  readonly guarded?: true;
}

const never: EnvelopeWord = { loosens: "NEVER" };
const higher: EnvelopeWord = { loosens: "HIGHER" };
const optional: EnvelopeWord = { loosens: "HIGHER OR ABSENT" };
const more: EnvelopeWord = { loosens: "MORE" };

export const envelopeWords: Readonly<Record<keyof RiskEnvelope, EnvelopeWord>> = {
  fund_id: never,
  version: never,
  max_position_pct: higher,
  daily_loss_halt_pct: higher,
  weekly_loss_halt_pct: higher,
  monthly_loss_halt_pct: higher,
  synthetic_stop_pct: higher,
  max_notional: higher,
  allowed_brokers: more,
  allowed_order_types: more,
  allowed_asset_classes: more,
  max_gross_exposure_pct: higher,
  max_net_exposure_pct: higher,
  sector_limits_pct: optional,
  shorting_enabled: { loosens: "TRUE" },
  max_stress_loss_pct: optional,
  strict_sides: { loosens: "NOT TRUE" },
  max_borrow_fee_pct: higher,
  price_collar_pct: { loosens: "WIDER; NARROWER TOO WHERE ORDERS WITHOUT A PRICE ARE ALLOWED" },
  exit_collar_pct: { loosens: "HIGHER OR ABSENT", guarded: true },
  order_rate_max_per_s: higher,
  halt_allow_reduce_only: { loosens: "TRUE", guarded: true },
  strategy_loss_halt_pct: optional,
  rolling_24h_loss_halt_pct: optional,
  rolling_5d_loss_halt_pct: optional,
  high_water_loss_halt_pct: optional,
  cro_veto_enabled: { loosens: "NOT TRUE" },
  cro_veto_timeout_ms: { loosens: "SHORTER WHERE SILENCE PASSES" },
  cro_veto_on_timeout: { loosens: "SILENCE PASSES" },
  repeated_execution_max: optional,
  repeated_execution_window_s: { loosens: "SHORTER" },
  updated_by: never,
  updated_at: never,
  reason: never,
  loosening: never,
  hash: never,
};

// What applies where an envelope says nothing. Limits that decide how much may be lost have no default: whoever sets an envelope must
// say them. docs/envelope.md tells the same to people.
import type { RiskEnvelope as RiskEnvelopeMessage } from "../../contracts/src/generated/svc/v1/envelope.ts";
import type { RiskEnvelope } from "../../contracts/src/records/envelope.ts";

export const envelopeDefaults = {
  max_gross_exposure_pct: 1,
  /** Or the gross limit, when that is lower. */
  max_net_exposure_pct: 1,
  shorting_enabled: false,
  max_borrow_fee_pct: 0,
  price_collar_pct: 0.05,
  strict_sides: true,
  order_rate_max_per_s: 50,
  halt_allow_reduce_only: true,
  cro_veto_enabled: false,
  cro_veto_timeout_ms: 2_000,
  cro_veto_on_timeout: "DENY",
  repeated_execution_window_s: 60,
} as const;

/** Without a word about it, the collar of exits is this many times the other one, up to the bound. */
const exitCollarTimes = 4;
const exitCollarMax = 0.9;

/** How far the price of a marked and proven exit may lie from the market. It is never narrower than that of other orders. */
export function exitCollarOf(record: Pick<RiskEnvelope, "exit_collar_pct" | "price_collar_pct">): number {
  const asked = record.exit_collar_pct ?? Math.min(exitCollarTimes * record.price_collar_pct, exitCollarMax);
  return Math.max(asked, record.price_collar_pct);
}

/** The same envelope with what applies in place of what is absent; what is off stays absent. */
export function effective(record: RiskEnvelope): RiskEnvelope {
  return {
    ...record,
    exit_collar_pct: exitCollarOf(record),
    strict_sides: record.strict_sides ?? envelopeDefaults.strict_sides,
    cro_veto_enabled: record.cro_veto_enabled ?? envelopeDefaults.cro_veto_enabled,
    cro_veto_timeout_ms: record.cro_veto_timeout_ms ?? envelopeDefaults.cro_veto_timeout_ms,
    cro_veto_on_timeout: record.cro_veto_on_timeout ?? envelopeDefaults.cro_veto_on_timeout,
    repeated_execution_window_s: record.repeated_execution_window_s ?? envelopeDefaults.repeated_execution_window_s,
  };
}

/**
 * What is asked for, with the defaults in place of what was left out. Settings of a part that is off stay absent, and so does a collar of
 * exits that is to follow the other one. What the engine writes is left behind.
 */
export function withDefaults(message: RiskEnvelopeMessage): RiskEnvelopeMessage {
  const { updated_by: _by, updated_at: _at, loosening: _loosening, hash: _hash, ...asked } = message;
  const gross = asked.max_gross_exposure_pct ?? envelopeDefaults.max_gross_exposure_pct;
  return {
    ...asked,
    max_gross_exposure_pct: gross,
    max_net_exposure_pct: asked.max_net_exposure_pct ?? Math.min(envelopeDefaults.max_net_exposure_pct, gross),
    shorting_enabled: asked.shorting_enabled ?? envelopeDefaults.shorting_enabled,
    max_borrow_fee_pct: asked.max_borrow_fee_pct ?? envelopeDefaults.max_borrow_fee_pct,
    price_collar_pct: asked.price_collar_pct ?? envelopeDefaults.price_collar_pct,
    strict_sides: asked.strict_sides ?? envelopeDefaults.strict_sides,
    order_rate_max_per_s: asked.order_rate_max_per_s ?? envelopeDefaults.order_rate_max_per_s,
    halt_allow_reduce_only: asked.halt_allow_reduce_only ?? envelopeDefaults.halt_allow_reduce_only,
    ...(asked.cro_veto_enabled === true && {
      cro_veto_timeout_ms: asked.cro_veto_timeout_ms ?? envelopeDefaults.cro_veto_timeout_ms,
      cro_veto_on_timeout: asked.cro_veto_on_timeout ?? envelopeDefaults.cro_veto_on_timeout,
    }),
    ...(asked.repeated_execution_max !== undefined && {
      repeated_execution_window_s: asked.repeated_execution_window_s ?? envelopeDefaults.repeated_execution_window_s,
    }),
  };
}

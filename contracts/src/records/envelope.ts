// The risk envelope: a fund's limits. All `_pct` fields are fractions (0.07 is 7 %), as the specification has them.
import { z } from "zod";
import {
  countNumber,
  decimalNumber,
  exitCollarFraction,
  exposureFraction,
  hashText,
  idText,
  instantText,
  lossFraction,
  nameText,
  reasonText,
  unitFraction,
} from "./fields.ts";
import { assetClass, orderType } from "./values.ts";

export const riskEnvelope = z.strictObject({
  fund_id: idText,
  /** An update carries the previous version plus 1. */
  version: countNumber,
  /** Resulting position as a share of NAV. */
  max_position_pct: exposureFraction,
  /** A loss of this share of NAV since the day, week or month began halts the fund; equal counts. */
  daily_loss_halt_pct: lossFraction,
  weekly_loss_halt_pct: lossFraction,
  monthly_loss_halt_pct: lossFraction,
  /** A stop triggers at fill_price x (1 -/+ this). */
  synthetic_stop_pct: lossFraction,
  /** The largest order, in the fund's currency. */
  max_notional: decimalNumber.min(0),
  allowed_brokers: z.array(nameText).max(100),
  allowed_order_types: z.array(orderType).max(20),
  allowed_asset_classes: z.array(assetClass).max(20),
  /** Sum of absolute positions as a share of NAV. */
  max_gross_exposure_pct: exposureFraction,
  /** Absolute sum of signed positions as a share of NAV. */
  max_net_exposure_pct: exposureFraction,
  /** Gross exposure per sector as a share of NAV; a sector that is not named has no limit of its own. */
  sector_limits_pct: z.record(nameText, exposureFraction),
  shorting_enabled: z.boolean(),
  /** What options may lose in the stress, with their underlyings, as a share of NAV; off when absent. */
  max_stress_loss_pct: lossFraction.optional(),
  /** Whether a side must fit the position; true when absent. */
  strict_sides: z.boolean().optional(),
  /** The dearest borrow that is acceptable, as a yearly fraction. */
  max_borrow_fee_pct: unitFraction,
  /** How far a price may lie from a fresh reference price, as a fraction of it. */
  price_collar_pct: lossFraction,
  /** The same for the prices of a marked and proven exit; 4 x price_collar_pct when absent, and never less than that one. */
  exit_collar_pct: exitCollarFraction.optional(),
  /** Orders per second, per strategy and for the fund as a whole. */
  order_rate_max_per_s: z.int().min(1).max(100_000),
  /** Whether a proven reduction that is marked reduce_only passes during a halt. */
  halt_allow_reduce_only: z.boolean(),
  /** The following are off when absent. A strategy's loss as a share of the fund's NAV raises STRATEGY_HALT. */
  strategy_loss_halt_pct: lossFraction.optional(),
  /** Losses over the last 24 hours and the last 5 days, whatever the calendar says. */
  rolling_24h_loss_halt_pct: lossFraction.optional(),
  rolling_5d_loss_halt_pct: lossFraction.optional(),
  /** Distance below the highest NAV so far, adjusted for deposits and withdrawals. */
  high_water_loss_halt_pct: lossFraction.optional(),
  /** The risk officer's gate, off when absent or false. */
  cro_veto_enabled: z.boolean().optional(),
  cro_veto_timeout_ms: z.int().min(1).max(60_000).optional(),
  /** What no answer in time means. */
  cro_veto_on_timeout: z.enum(["DENY", "PASS_WITH_WARNING"]).optional(),
  /** Equal approvals (strategy, symbol, side, quantity) within the window; one more trips a throttle that only an operator releases. Off when absent. */
  repeated_execution_max: z.int().min(1).max(1_000_000).optional(),
  repeated_execution_window_s: z.int().min(1).max(86_400).optional(),
  /** Who set this version, when, why, and the hash of its other fields; written by the engine. */
  updated_by: nameText.optional(),
  updated_at: instantText.optional(),
  reason: reasonText.optional(),
  /** Of a version that was not set without a second factor: the fields that it loosened. */
  loosening: z.strictObject({ fields: z.array(z.string().max(300)).max(200), second_factor: z.boolean() }).optional(),
  hash: hashText.optional(),
});
export type RiskEnvelope = z.infer<typeof riskEnvelope>;

export const envelopeRequest = z.strictObject({ fund_id: idText });

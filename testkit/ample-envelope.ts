// Limits of a fund that stand against nothing but what a test gives them to.
import type { RiskEnvelope } from "../contracts/src/records/envelope.ts";

export function ampleEnvelope(fundId: string, differs: Partial<RiskEnvelope> = {}): RiskEnvelope {
  return {
    fund_id: fundId,
    version: 1,
    max_position_pct: 0.5,
    daily_loss_halt_pct: 0.1,
    weekly_loss_halt_pct: 0.1,
    monthly_loss_halt_pct: 0.1,
    synthetic_stop_pct: 0.05,
    max_notional: 250_000,
    allowed_brokers: ["paper"],
    allowed_order_types: ["MARKET", "LIMIT", "STOP"],
    allowed_asset_classes: ["EQUITY", "OPTION"],
    max_gross_exposure_pct: 1,
    max_net_exposure_pct: 1,
    sector_limits_pct: {},
    shorting_enabled: true,
    max_borrow_fee_pct: 0.05,
    price_collar_pct: 0.05,
    order_rate_max_per_s: 1_000,
    halt_allow_reduce_only: true,
    reason: "the fixture of a test",
    ...differs,
  };
}

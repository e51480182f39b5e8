// The fund that drills halt, as data: paper, a little cash, limits under which one tiny order can rest far away from the market, and no positions.
// It is put in with the paper platform and shown in no list of funds: it is nobody's.
import { alwaysOpen } from "../../contracts/src/calendars.ts";
import type { RiskEnvelope } from "../../contracts/src/records/envelope.ts";
import type { FundReference } from "../../contracts/src/records/reference.ts";
import { drillFundId } from "../../core/halts/halts.ts";

export const drillFund: FundReference = {
  fund_id: drillFundId,
  name: "Halt drills",
  mode: "PAPER",
  currency: "USD",
  calendar: alwaysOpen.definition.name,
  strategies: ["drill-probe"],
};

export const drillCapital = { fundId: drillFundId, currency: "USD", amount: "100000" } as const;

/** Version 1 of its limits: what a drill needs and hardly more. The collar is wide, because its order must rest far away. */
export const drillEnvelope: RiskEnvelope = {
  fund_id: drillFundId,
  version: 1,
  max_position_pct: 0.01,
  daily_loss_halt_pct: 0.5,
  weekly_loss_halt_pct: 0.5,
  monthly_loss_halt_pct: 0.5,
  synthetic_stop_pct: 0.5,
  max_notional: 1_000,
  allowed_brokers: ["paper"],
  allowed_order_types: ["LIMIT"],
  allowed_asset_classes: ["CRYPTO", "EQUITY"],
  max_gross_exposure_pct: 0.01,
  max_net_exposure_pct: 0.01,
  sector_limits_pct: {},
  shorting_enabled: false,
  max_borrow_fee_pct: 0,
  price_collar_pct: 0.75,
  order_rate_max_per_s: 10,
  halt_allow_reduce_only: true,
  repeated_execution_max: 1_000,
  repeated_execution_window_s: 60,
};

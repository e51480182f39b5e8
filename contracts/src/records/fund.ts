// Funds and what they are worth.
import { z } from "zod";
import { countNumber, currencyText, dateText, decimalText, idText, instantText, nameText } from "./fields.ts";
import { fundMode, severity } from "./values.ts";

/** A fund as the public list shows it. */
export const fundStatus = z.object({
  fund_id: idText,
  name: nameText,
  mode: fundMode,
  currency: currencyText,
  /** Net asset value in the fund's currency. */
  nav: decimalText,
  nav_at: instantText,
  /** Profit or loss since the trading day began, flows excluded. */
  day_pnl: decimalText.optional(),
  /** Shares of NAV, as fractions. */
  gross_exposure_pct: z.number().optional(),
  net_exposure_pct: z.number().optional(),
  halted: z.boolean(),
  /** The strictest halt in force. */
  severity: severity.optional(),
});
export type FundStatus = z.infer<typeof fundStatus>;

/** A fund's value was computed; drawdown is judged from these. */
export const navUpdated = z.object({
  fund_id: idText,
  nav: decimalText,
  currency: currencyText,
  /** The parts: nav = cash + positions_value. */
  cash: decimalText.optional(),
  positions_value: decimalText.optional(),
  /** Deposits minus withdrawals since the fund began; a flow is neither profit nor loss. */
  net_flows: decimalText.optional(),
  /** Profit or loss per strategy since the fund began. */
  strategy_pnl: z.record(idText, decimalText).optional(),
  /** The age of the oldest price in it. */
  oldest_price_age_ms: z.number().min(0).optional(),
  /** The fund's trading day that this value belongs to. */
  trading_day: dateText.optional(),
  as_of: instantText,
  /** Counts the fund's values without gaps, when the publisher can. */
  sequence: countNumber.optional(),
});
export type NavUpdated = z.infer<typeof navUpdated>;

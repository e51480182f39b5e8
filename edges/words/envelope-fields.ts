// The fields of a fund's limits that a person sets, in reading order: what each means, and of which kind it is. The command line makes its
// flags from this list and the HTTP API the words of its reference, so that both say the same. What the engine writes itself is not here.

/** fraction: 0.07 is 7 %. fractions: one for each name. */
type EnvelopeFieldKind = "fraction" | "amount" | "count" | "switch" | "words" | "word" | "fractions";

export interface EnvelopeField {
  readonly name: string;
  readonly kind: EnvelopeFieldKind;
  readonly sentence: string;
  /** What absence means, for those that may be absent. */
  readonly absent?: string;
  /** The words that make sense. */
  readonly values?: readonly string[];
}

// biome-ignore format: one field, one line
export const envelopeFields = [
  { name: "max_position_pct", kind: "fraction", sentence: "The largest position that may result, as a share of NAV." },
  { name: "max_gross_exposure_pct", kind: "fraction", sentence: "The largest sum of absolute positions, as a share of NAV." },
  { name: "max_net_exposure_pct", kind: "fraction", sentence: "The largest absolute sum of signed positions, as a share of NAV." },
  { name: "sector_limits_pct", kind: "fractions", sentence: "The largest gross exposure to each sector, as a share of NAV; a sector that is not named has no limit of its own." },
  { name: "max_notional", kind: "amount", sentence: "The largest order, in the fund's currency." },
  { name: "allowed_brokers", kind: "words", sentence: "Brokers that orders may go to; an empty list allows none." },
  { name: "allowed_order_types", kind: "words", sentence: "Order types that are allowed; an empty list allows none.", values: ["MARKET", "LIMIT", "STOP", "STOP_LIMIT"] },
  { name: "allowed_asset_classes", kind: "words", sentence: "Asset classes that are allowed; an empty list allows none.", values: ["EQUITY", "CRYPTO", "OPTION"] },
  { name: "price_collar_pct", kind: "fraction", sentence: "How far a price may lie from a fresh reference price, as a fraction of it." },
  { name: "exit_collar_pct", kind: "fraction", sentence: "How far the price of a marked and proven exit may lie from a fresh reference price, as a fraction of it; never less than price_collar_pct.", absent: "4 x price_collar_pct, at most 0.9" },
  { name: "order_rate_max_per_s", kind: "count", sentence: "Orders a second that may add risk, per strategy and for the fund as a whole." },
  { name: "repeated_execution_max", kind: "count", sentence: "Equal approvals within the window below; one more trips a throttle that only an operator releases.", absent: "off" },
  { name: "repeated_execution_window_s", kind: "count", sentence: "The window for equal approvals, in seconds.", absent: "60" },
  { name: "shorting_enabled", kind: "switch", sentence: "Whether short positions are allowed." },
  { name: "max_stress_loss_pct", kind: "fraction", sentence: "What options may lose, with their underlyings, if those stood 20 % higher or lower and volatility half as high again, as a share of NAV.", absent: "off" },
  { name: "strict_sides", kind: "switch", sentence: "Whether the side of an order in EQUITY or OPTION must fit the position: no sale beyond what is held, no cover beyond what is short.", absent: "true" },
  { name: "max_borrow_fee_pct", kind: "fraction", sentence: "The dearest borrow that is acceptable, as a yearly fraction." },
  { name: "daily_loss_halt_pct", kind: "fraction", sentence: "A loss of this share of NAV since the day began halts the fund; equal counts." },
  { name: "weekly_loss_halt_pct", kind: "fraction", sentence: "The same since the week began." },
  { name: "monthly_loss_halt_pct", kind: "fraction", sentence: "The same since the month began." },
  { name: "strategy_loss_halt_pct", kind: "fraction", sentence: "A strategy's loss of this share of the fund's NAV halts the strategy.", absent: "off" },
  { name: "rolling_24h_loss_halt_pct", kind: "fraction", sentence: "A loss of this share of NAV over the last 24 hours halts the fund.", absent: "off" },
  { name: "rolling_5d_loss_halt_pct", kind: "fraction", sentence: "The same over the last 5 days.", absent: "off" },
  { name: "high_water_loss_halt_pct", kind: "fraction", sentence: "This far below the highest NAV so far, flows left out, halts the fund.", absent: "off" },
  { name: "synthetic_stop_pct", kind: "fraction", sentence: "A stop triggers at the fill price less (for a short: plus) this fraction of it." },
  { name: "halt_allow_reduce_only", kind: "switch", sentence: "Whether a proven reduction that is marked reduce_only passes during a halt.", absent: "true" },
  { name: "cro_veto_enabled", kind: "switch", sentence: "Whether the risk officer's gate is asked.", absent: "false" },
  { name: "cro_veto_timeout_ms", kind: "count", sentence: "Milliseconds that the risk officer has.", absent: "2000" },
  { name: "cro_veto_on_timeout", kind: "word", sentence: "What no answer in time means: DENY or PASS_WITH_WARNING.", absent: "DENY", values: ["DENY", "PASS_WITH_WARNING"] },
] as const satisfies readonly EnvelopeField[];

export type EnvelopeFieldName = (typeof envelopeFields)[number]["name"];

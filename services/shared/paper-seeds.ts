// What the paper platform begins with, as data: three funds, what they may trade, their limits, capital and first positions. Treasury,
// order management and the risk engine each put in their own part; the paper market quotes the same symbols.
//
// Every position is at most 3 % of its fund's value, so that an ordinary small order finds room under every limit.
import { alwaysOpen, usEquities } from "../../contracts/src/calendars.ts";
import type { RiskEnvelope } from "../../contracts/src/records/envelope.ts";
import type { Instrument } from "../../contracts/src/records/market.ts";
import {
  type Borrow,
  calendarReferenceOf,
  type FundReference,
  type FxRate,
  type ReferenceContents,
} from "../../contracts/src/records/reference.ts";
import type { AssetClass, OrderType, Side } from "../../contracts/src/records/values.ts";
import type { PaperListing } from "../../core/paper/paper-prices.ts";

/** How records name who put this in. */
export const paperActor = "service:paper-platform";
export const paperReason = "paper platform";

interface Seed {
  readonly instrument: Instrument;
  readonly listing: PaperListing;
  readonly borrow?: Omit<Borrow, "symbol" | "as_of">;
}

/** What the paper market needs to know of an instrument; sizes and volume follow from what is traded in a usual minute. */
function listingOf(
  instrument: Instrument,
  price: string,
  halfSpreadTicks: number,
  [volatility, correlation]: Moves,
  minuteVolume: number,
): PaperListing {
  return {
    symbol: instrument.symbol,
    assetClass: instrument.asset_class,
    currency: instrument.currency,
    calendar: instrument.calendar,
    price,
    tickSize: instrument.tick_size,
    lotSize: instrument.lot_size,
    halfSpreadTicks,
    volatility,
    correlation,
    minuteVolume,
  };
}

/** Volatility of a year, and how much of a walk is that of the whole asset class. */
type Moves = readonly [volatility: number, correlation: number];

/** Of the seeded equities. */
const isins: Readonly<Record<string, string>> = {
  AAPL: "US0378331005",
  MSFT: "US5949181045",
  GOOGL: "US02079K3059",
  AMZN: "US0231351067",
  NVDA: "US67066G1040",
  JPM: "US46625H1005",
  XOM: "US30231G1022",
  SPY: "US78462F1030",
};

function equity(symbol: string, name: string, sector: string, price: string, feePct: string, moves: Moves): Seed {
  const isin = isins[symbol];
  const instrument: Instrument = {
    symbol,
    name,
    asset_class: "EQUITY",
    currency: "USD",
    tick_size: "0.01",
    lot_size: "1",
    multiplier: "1",
    sector,
    calendar: usEquities.definition.name,
    ...(isin !== undefined && { isin }),
  };
  return {
    instrument,
    listing: listingOf(instrument, price, 1, moves, 150_000 / Number(price)),
    borrow: { available_quantity: "250000", fee_pct: feePct },
  };
}

function coin(symbol: string, name: string, price: string, moves: Moves): Seed {
  const instrument: Instrument = {
    symbol,
    name,
    asset_class: "CRYPTO",
    currency: "USD",
    tick_size: "0.01",
    lot_size: "0.00001",
    multiplier: "1",
    sector: "crypto",
    calendar: alwaysOpen.definition.name,
  };
  return { instrument, listing: listingOf(instrument, price, 5, moves, 100_000 / Number(price)) };
}

const optionExpiry = "2028-12-15";

/** The symbol is the OCC's with one space of padding: underlying, expiry, right, strike in thousandths. */
function option(right: "CALL" | "PUT", strike: number, price: string): Seed {
  const letter = right === "CALL" ? "C" : "P";
  const symbol = `SPY ${optionExpiry.slice(2).replaceAll("-", "")}${letter}${String(strike * 1_000).padStart(8, "0")}`;
  const terms = { underlying: "SPY", right, strike: String(strike), expiry: optionExpiry };
  const instrument: Instrument = {
    symbol,
    name: `SPY ${strike} ${right.toLowerCase()}, 15 December 2028`,
    asset_class: "OPTION",
    currency: "USD",
    tick_size: "0.01",
    lot_size: "1",
    multiplier: "100",
    sector: "index",
    calendar: usEquities.definition.name,
    ...terms,
  };
  return {
    instrument,
    // What it moves by follows from its underlying.
    listing: {
      ...listingOf(instrument, price, 5, [0, 0], 20),
      option: { ...terms, multiplier: instrument.multiplier },
    },
  };
}

const seeds: readonly Seed[] = [
  equity("AAPL", "Apple", "technology", "232.5", "0.0025", [0.26, 0.65]),
  equity("MSFT", "Microsoft", "technology", "428", "0.0025", [0.24, 0.7]),
  equity("GOOGL", "Alphabet, class A", "communication_services", "172.4", "0.0025", [0.28, 0.65]),
  equity("AMZN", "Amazon", "consumer_discretionary", "206.3", "0.0025", [0.3, 0.65]),
  equity("NVDA", "NVIDIA", "technology", "142.1", "0.005", [0.35, 0.6]),
  equity("JPM", "JPMorgan Chase", "financials", "243.8", "0.0025", [0.23, 0.6]),
  equity("XOM", "Exxon Mobil", "energy", "118.6", "0.003", [0.25, 0.4]),
  equity("SPY", "S&P 500 fund", "index", "592.4", "0.0025", [0.2, 0.97]),
  coin("BTC-USD", "Bitcoin", "91000", [0.55, 0.85]),
  coin("ETH-USD", "Ether", "3120", [0.6, 0.8]),
  coin("SOL-USD", "Solana", "214.6", [0.65, 0.75]),
  option("CALL", 650, "68.5"),
  option("CALL", 700, "47.2"),
  option("PUT", 500, "31.4"),
  option("PUT", 550, "45.9"),
];

export const paperListings: readonly PaperListing[] = seeds.map(({ listing }) => listing);
/** The options, in the order above. */
const [call650 = "", call700 = "", put500 = ""] = seeds
  .filter(({ instrument }) => instrument.asset_class === "OPTION")
  .map(({ instrument }) => instrument.symbol);

const paperFunds: readonly FundReference[] = [
  {
    fund_id: "alpha",
    name: "Alpha US equities",
    mode: "PAPER",
    currency: "USD",
    calendar: usEquities.definition.name,
    strategies: ["alpha-momentum", "alpha-meanrev"],
  },
  {
    fund_id: "beta",
    name: "Beta crypto",
    mode: "PAPER",
    currency: "USD",
    calendar: alwaysOpen.definition.name,
    strategies: ["beta-trend"],
  },
  {
    fund_id: "gamma",
    name: "Gamma options income",
    mode: "PAPER",
    currency: "USD",
    calendar: usEquities.definition.name,
    strategies: ["gamma-income"],
  },
];

const paperRates: readonly Omit<FxRate, "as_of">[] = [
  { base: "EUR", quote: "USD", rate: "1.085" },
  { base: "GBP", quote: "USD", rate: "1.27" },
  { base: "USDT", quote: "USD", rate: "1" },
];

/** Every kind of reference data; rates and borrow are true as of the given moment. */
export function paperReference(asOf: string): ReferenceContents {
  return {
    instruments: seeds.map(({ instrument }) => ({ ...instrument })),
    funds: paperFunds.map((fund) => ({ ...fund, strategies: [...fund.strategies] })),
    fx: paperRates.map((rate) => ({ ...rate, as_of: asOf })),
    borrow: seeds.flatMap(({ instrument: { symbol }, borrow }) =>
      borrow === undefined ? [] : [{ symbol, ...borrow, as_of: asOf }],
    ),
    restricted: [],
    venues: [],
    calendars: [usEquities, alwaysOpen].map(({ definition }) => calendarReferenceOf(definition)),
  };
}

/** What each fund was given to begin with; the first positions are bought from it. */
export const paperCapital: readonly { readonly fundId: string; readonly currency: string; readonly amount: string }[] =
  [
    { fundId: "alpha", currency: "USD", amount: "10000000" },
    { fundId: "beta", currency: "USD", amount: "2000000" },
    { fundId: "gamma", currency: "USD", amount: "5000000" },
  ];

export interface PaperPosition {
  readonly fundId: string;
  readonly strategyId: string;
  readonly symbol: string;
  readonly side: Side;
  readonly quantity: string;
  /** Where the market begins, so that the fund's first value is its capital. */
  readonly price: string;
}

function position(strategyId: string, symbol: string, quantity: string, side: Side = "BUY"): PaperPosition {
  const price = paperListings.find((listing) => listing.symbol === symbol)?.price ?? "";
  return { fundId: strategyId.slice(0, strategyId.indexOf("-")), strategyId, symbol, side, quantity, price };
}

export const paperPositions: readonly PaperPosition[] = [
  position("alpha-momentum", "AAPL", "1000"),
  position("alpha-momentum", "MSFT", "600"),
  position("alpha-momentum", "GOOGL", "1200"),
  position("alpha-momentum", "NVDA", "1500"),
  position("alpha-meanrev", "AMZN", "1000"),
  position("alpha-meanrev", "JPM", "900"),
  position("alpha-meanrev", "XOM", "1500"),
  position("alpha-meanrev", "SPY", "400"),
  position("beta-trend", "BTC-USD", "0.6"),
  position("beta-trend", "ETH-USD", "15"),
  position("beta-trend", "SOL-USD", "200"),
  position("gamma-income", "SPY", "200"),
  position("gamma-income", call650, "1", "SELL_SHORT"),
  position("gamma-income", call700, "1", "SELL_SHORT"),
  position("gamma-income", put500, "4", "SELL_SHORT"),
];

const everyOrderType: OrderType[] = ["MARKET", "LIMIT", "STOP", "STOP_LIMIT"];

function envelope(fundId: string, assetClasses: AssetClass[], limits: Partial<RiskEnvelope>): RiskEnvelope {
  return {
    fund_id: fundId,
    version: 1,
    max_position_pct: 0.07,
    daily_loss_halt_pct: 0.02,
    weekly_loss_halt_pct: 0.04,
    monthly_loss_halt_pct: 0.06,
    synthetic_stop_pct: 0.05,
    max_notional: 250_000,
    allowed_brokers: ["paper"],
    allowed_order_types: everyOrderType,
    allowed_asset_classes: assetClasses,
    max_gross_exposure_pct: 1.5,
    max_net_exposure_pct: 1,
    sector_limits_pct: {},
    shorting_enabled: true,
    strict_sides: true,
    max_borrow_fee_pct: 0.03,
    price_collar_pct: 0.05,
    order_rate_max_per_s: 100,
    halt_allow_reduce_only: true,
    strategy_loss_halt_pct: 0.015,
    repeated_execution_max: 1_000,
    repeated_execution_window_s: 60,
    ...limits,
  };
}

/** Version 1 of each fund's limits; who, when, why and the hash are added when they are put in. */
export const paperEnvelopes: readonly RiskEnvelope[] = [
  envelope("alpha", ["EQUITY"], {
    sector_limits_pct: {
      technology: 0.4,
      communication_services: 0.25,
      consumer_discretionary: 0.25,
      financials: 0.25,
      energy: 0.25,
      index: 0.3,
    },
  }),
  envelope("beta", ["CRYPTO"], {
    max_position_pct: 0.2,
    daily_loss_halt_pct: 0.05,
    weekly_loss_halt_pct: 0.08,
    monthly_loss_halt_pct: 0.12,
    synthetic_stop_pct: 0.1,
    max_notional: 100_000,
    max_gross_exposure_pct: 0.8,
    max_net_exposure_pct: 0.8,
    sector_limits_pct: { crypto: 0.8 },
    shorting_enabled: false,
    max_borrow_fee_pct: 0,
    strategy_loss_halt_pct: 0.05,
  }),
  // Everything that gamma does is on SPY, and counts there together: shares, calls and puts, twice while they are rolled.
  envelope("gamma", ["OPTION", "EQUITY"], {
    max_position_pct: 0.2,
    max_notional: 150_000,
    max_gross_exposure_pct: 1,
    max_net_exposure_pct: 1,
    sector_limits_pct: { index: 0.8 },
    max_stress_loss_pct: 0.25,
    price_collar_pct: 0.1,
  }),
];

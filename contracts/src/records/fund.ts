// Funds and what they are worth.
import { z } from "zod";
import {
  countNumber,
  currencyText,
  dateText,
  decimalText,
  hashText,
  idText,
  instantText,
  nameText,
  reasonText,
  symbolText,
  unitFraction,
} from "./fields.ts";
import { fundMode, severity, strategyStatus } from "./values.ts";

/** A fund as the public list shows it. */
export const fundStatus = z.object({
  fund_id: idText,
  name: nameText,
  mode: fundMode,
  currency: currencyText,
  /** Net asset value in the fund's currency. */
  nav: decimalText,
  nav_at: instantText,
  /** How old the oldest price in it was by then. */
  oldest_price_age_ms: z.number().min(0).optional(),
  /** Profit or loss since the trading day began, flows excluded. */
  day_pnl: decimalText.optional(),
  /** Shares of NAV, as fractions. */
  gross_exposure_pct: z.number().optional(),
  net_exposure_pct: z.number().optional(),
  halted: z.boolean(),
  /** The strictest halt in force. */
  severity: severity.optional(),
  /** On the operators' port alone: whose values count; absent: nobody's. */
  valued_by: idText.optional(),
  /** On the operators' port alone: others who published values of it; theirs do not count. */
  other_value_sources: z.array(nameText).optional(),
});
export type FundStatus = z.infer<typeof fundStatus>;

/** A value of more positions than this is reported without its prices. */
export const pricesMax = 1_000;

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
  /** The age of the oldest price in it: a value is as old as that, whenever it was computed. */
  oldest_price_age_ms: z.number().min(0).optional(),
  /** Every position by its symbol: how much, at which price, and when that price was true. */
  prices: z
    .record(symbolText, z.object({ quantity: decimalText, price: decimalText, at: instantText }))
    .refine((prices) => Object.keys(prices).length <= pricesMax, `expected at most ${pricesMax} prices`)
    .optional(),
  /** What one of each other currency in it was worth in the fund's, and when. */
  rates: z.record(currencyText, z.object({ rate: decimalText, at: instantText })).optional(),
  /** The fund's trading day that this value belongs to. */
  trading_day: dateText.optional(),
  as_of: instantText,
  /** Counts the fund's values without gaps, when the publisher can. */
  sequence: countNumber.optional(),
});
export type NavUpdated = z.infer<typeof navUpdated>;

interface BelievedPrice {
  readonly quantity: string;
  readonly price: string;
  readonly low: string;
  readonly high: string;
}

/** A value as the risk engine keeps it, with how it was judged: after a restart it counts as it did before. */
export interface JudgedNav extends NavUpdated {
  /** Absent in those that were kept before it was. */
  readonly judged?: {
    /** What counted of it, and the most that it may be where nobody vouches for it. */
    readonly counts: string;
    readonly most?: string;
    /** Of a value from outside: what the last vouched one had become by then, and since when steps are measured from it. */
    readonly carried?: { readonly nav: string; readonly net_flows: string; readonly since: string };
    /** What was held, at which price, and between which ones that were believed. */
    readonly prices: Readonly<Record<string, BelievedPrice>>;
  };
}

/** Money moved that no fill moved: a deposit or withdrawal, a fee for borrowed shares, a dividend, the first capital. */
export const ledgerBooked = z.object({
  entry_id: idText,
  fund_id: idText,
  kind: z.enum(["CAPITAL", "FLOW", "BORROW_FEE", "DIVIDEND"]),
  currency: currencyText,
  /** What the fund's cash changed by; negative when it paid. */
  amount: decimalText,
  /** Of a borrow fee or a dividend: the symbol and the strategy that it is for. */
  symbol: z.string().optional(),
  strategy_id: idText.optional(),
  booked_by: nameText,
  reason: reasonText,
  at: instantText,
});
export type LedgerBooked = z.infer<typeof ledgerBooked>;

/** What was kept of a fund's positions, cash and balances was put right from its trades and entries. */
export const ledgerRebuilt = z.object({
  fund_id: idText,
  /** How many entries were added up. */
  entries: countNumber,
  /** Trades of order management that had no entry and have one now; the first hundred by their ids. */
  booked_fills: z.array(idText).max(100),
  booked_fill_count: countNumber,
  /** The first hundred. */
  differences: z
    .array(
      z.object({
        record: z.enum(["BALANCE", "HOLDING", "STRATEGY_HOLDING"]),
        account: z.string().optional(),
        strategy_id: idText.optional(),
        symbol: z.string(),
        kept: decimalText,
        rebuilt: decimalText,
      }),
    )
    .max(100),
  difference_count: countNumber,
  rebuilt_by: nameText,
  reason: reasonText,
  at: instantText,
});

/** A strategy's status or allocation changed. */
export const strategyChanged = z.object({
  strategy_id: idText,
  fund_id: idText,
  status: strategyStatus,
  /** Share of the fund's NAV that it may work with. */
  allocation_pct: unitFraction,
  changed_by: nameText,
  reason: reasonText,
  at: instantText,
});

/** The paper platform's history was put in, as one whole: its hash says which. */
export const seedImported = z.object({
  name: nameText,
  hash: hashText,
  from: dateText,
  to: dateText,
  /** How many records of each kind. */
  counts: z.record(nameText, countNumber),
  imported_by: nameText,
  at: instantText,
});
export type SeedImported = z.infer<typeof seedImported>;

/** What the paper broker and the paper market are made to suffer, for drills and demonstrations. */
export const paperFaults = z.object({
  /** Until then the broker answers nobody. */
  broker_silent_until: instantText.optional(),
  /** Shares of the broker's reports that are lost (found again by asking) or come twice. */
  report_loss_pct: unitFraction.optional(),
  report_repeat_pct: unitFraction.optional(),
  /** Prices moved by a fraction from a moment on: -0.12 is a fall of 12 %. */
  gaps: z
    .array(z.object({ symbol: z.string(), pct: z.number().gt(-1).max(10), from: instantText }))
    .max(100)
    .optional(),
  /** So many stories about a symbol within a minute, from a moment on. */
  news: z
    .array(z.object({ symbol: symbolText, count: z.number().int().min(1).max(1_000), from: instantText }))
    .max(100)
    .optional(),
  /** One-sided flow by those who know something: the price drifts their way from a moment on, by 3 % at most. */
  informed: z
    .array(z.object({ symbol: symbolText, side: z.enum(["buy", "sell"]), from: instantText }))
    .max(100)
    .optional(),
  /** Symbols that are not traded at present, quotes included. */
  halted_symbols: z.array(z.string()).max(100).optional(),
  set_by: nameText,
  reason: reasonText,
  at: instantText,
});
export type PaperWeather = z.infer<typeof paperFaults>;

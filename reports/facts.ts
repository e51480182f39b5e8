// What a report is made of: everything that was read, of one fund, as of one moment, and nothing that was computed. A facts file makes the same document
// on any machine, without a server. Its hash is that of its canonical text.
import { z } from "zod";
import { decimalText, idText, instantText } from "../contracts/src/records/fields.ts";
import { fill } from "../contracts/src/records/order.ts";
import { canonicalJson } from "../core/audit/canonical/canonical-json.ts";

const date = z.string().regex(/^\d{4}-\d{2}-\d{2}$/, "expected a date such as 2026-11-18");

const navFact = z.object({
  /** The day in the fund's own calendar. */
  day: date,
  as_of: instantText,
  nav: decimalText,
  cash: decimalText,
  positions_value: decimalText,
  /** Deposits less withdrawals since the fund began. */
  net_flows: decimalText,
  /** What every position was valued at; null where it was not kept (before the log began). */
  prices: z.record(z.string(), z.object({ quantity: decimalText, price: decimalText, at: instantText })).nullable(),
});
export type NavFact = z.infer<typeof navFact>;

const ledgerFact = z.object({
  entry_id: z.string(),
  kind: z.string(),
  at: instantText,
  symbol: z.string().nullable(),
  postings: z.array(z.object({ account: z.string(), currency: z.string(), amount: decimalText })),
});

const quoteFact = z.object({ bid: decimalText, ask: decimalText, at: instantText });
export type QuoteFact = z.infer<typeof quoteFact>;

const closes = z.array(z.object({ day: date, close: decimalText }));

const orderFact = z.object({
  order_id: z.string(),
  strategy_id: z.string(),
  symbol: z.string(),
  side: z.enum(["BUY", "SELL", "SELL_SHORT", "BUY_TO_COVER"]),
  quantity: decimalText,
  order_type: z.string(),
  broker: z.string(),
  state: z.string(),
  filled_quantity: decimalText,
  created_at: instantText,
  decided_at: instantText.nullable(),
  /** The denial's; empty where it was approved, null where nobody decided. */
  code: z.string().nullable(),
  /** The order that this one is a slice of; absent or null for one that is whole. */
  parent_order_id: z.string().nullable().optional(),
  /** Bid and ask when it was created and routed; absent or null where they were not kept. */
  quotes: z.object({ created: quoteFact.nullable(), routed: quoteFact.nullable() }).optional(),
});
export type OrderFact = z.infer<typeof orderFact>;

const strategyFact = z.object({ strategy_id: z.string(), status: z.string(), allocation_pct: z.number() });

const signalFact = z.object({
  symbol: z.string(),
  at: instantText,
  value: z.number(),
  realised_return: z.number().nullable(),
  horizon_s: z.number().nullable(),
});
export type SignalFact = z.infer<typeof signalFact>;

const backtestFact = z.object({
  strategy_id: z.string(),
  days: z.array(z.object({ day: date, return: z.number(), information_coefficient: z.number().nullable() })),
  /** What it said of every symbol after each close; absent where it was not kept. */
  signals: z.array(z.object({ day: date, symbol: z.string(), value: z.number() })).optional(),
});
export type BacktestFact = z.infer<typeof backtestFact>;

const limitUseFact = z.object({
  limit: z.string(),
  /** The symbol, the sector or the strategy; empty for the fund's own. */
  scope: z.string(),
  used: decimalText.nullable(),
  allowed: decimalText.nullable(),
  share: z.number().nullable(),
  reason: z.string().nullable(),
  as_of: instantText,
});

const auditFact = z.object({
  sequence: z.int().nonnegative(),
  at: instantText,
  action: z.string(),
  actor: z.string(),
  subject_id: z.string(),
});

/** What is only read for the reports that need it: a part that is absent was not asked for, an empty one was and has nothing. */
const furtherFacts = {
  orders: z.array(orderFact).optional(),
  /** Bid and ask at each fill, and 300 seconds later, by the fill's id; null where it was not known, or that moment lies ahead. */
  fill_quotes: z
    .record(z.string(), z.object({ at_fill: quoteFact.nullable(), after_300s: quoteFact.nullable() }))
    .optional(),
  denials: z
    .array(
      z.object({
        decision_id: z.string(),
        at: instantText,
        strategy_id: z.string(),
        symbol: z.string(),
        gate: z.string(),
        code: z.string(),
      }),
    )
    .optional(),
  envelopes: z
    .array(
      z.object({
        version: z.int(),
        updated_at: instantText.nullable(),
        updated_by: z.string().nullable(),
        limits: z.record(z.string(), z.string()),
      }),
    )
    .optional(),
  /** How orders of the period would have been decided with another limit; empty where they could not be run again. */
  replays: z
    .array(
      z.object({
        limit: z.string(),
        from: decimalText,
        to: decimalText,
        replayed: z.int().nonnegative(),
        /** Orders that were approved and would have been denied. */
        denied: z.array(z.string()),
        /** More of them than are named. */
        unnamed: z.int().nonnegative(),
      }),
    )
    .optional(),
  limit_use: z.array(limitUseFact).optional(),
  strategies: z.array(strategyFact).optional(),
  backtests: z.array(backtestFact).optional(),
  signals: z.record(z.string(), z.array(signalFact)).optional(),
  /** What the fund may trade, each with closes. */
  universe: z.array(z.object({ symbol: z.string(), sector: z.string().nullable() })).optional(),
  volumes: z.record(z.string(), z.array(z.object({ day: date, volume: decimalText }))).optional(),
  /** Entries about the fund and about everything, from the log's beginning or the period's on. */
  audit: z.object({ began_at: instantText.nullable(), entries: z.array(auditFact) }).optional(),
  /** One a minute, of the last week at most. */
  minutes: z.array(z.object({ at: instantText, nav: decimalText, net_flows: decimalText })).optional(),
  /** Returns of factors of one's own, as fractions. */
  factors: z
    .object({ names: z.array(z.string()), days: z.array(z.object({ day: date, returns: z.array(z.number()) })) })
    .optional(),
} as const;
export type FactPart = keyof typeof furtherFacts;

/** Version 1 had none of the further facts. */
const versions = [1, 2] as const;

export const reportFacts = z.object({
  version: z.literal(versions, { error: `expected version ${versions.join(" or ")}: this program reads no other` }),
  fund: z.object({
    fund_id: idText,
    mode: z.enum(["PAPER", "LIVE"]),
    currency: z.string(),
    calendar: z.string(),
    periods_per_year: z.int().positive(),
  }),
  as_of: instantText,
  /** A decimal, as configured: 0.02 is 2 % a year. */
  rf_annual: decimalText,
  audit_sequence: z.int().nonnegative().nullable(),
  instruments: z.array(
    z.object({
      symbol: z.string(),
      asset_class: z.string(),
      currency: z.string(),
      multiplier: decimalText,
      sector: z.string().nullable(),
    }),
  ),
  /** One a day, ascending; the first may lie before the period and is then its opening. */
  navs: z
    .array(navFact)
    .min(1, "expected a value")
    .refine(
      (navs) => navs.every(({ day }, place) => day > (navs[place - 1]?.day ?? "")),
      "expected one value a day, ascending",
    ),
  /** Every fill since the fund began, oldest first. */
  fills: z.array(fill),
  /** Every ledger entry since the fund began, oldest first; none of the seeded history. */
  ledger: z.array(ledgerFact),
  /** Of every symbol that was held on a day without kept prices, ascending. */
  closes: z.record(z.string(), closes),
  benchmark: z.object({ symbol: z.string(), closes }).nullable(),
  ...furtherFacts,
  /** The report that they were read for, and its parameters: who has nothing but the file makes the same document. */
  made_for: z
    .object({
      report: z.string(),
      start: date,
      end: date,
      include: z.array(z.string()).optional(),
      strategy_id: z.string().optional(),
    })
    .optional(),
});
export type ReportFacts = z.infer<typeof reportFacts>;

/** Ten years of a busy fund have a few million characters. */
const lengthMax = 200_000_000;

export const factsText = (facts: ReportFacts): string => canonicalJson(facts, { lengthMax });

export function factsHash(facts: ReportFacts, sha256: (text: string) => Uint8Array): string {
  return [...sha256(factsText(facts))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

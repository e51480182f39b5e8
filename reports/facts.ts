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

const closes = z.array(z.object({ day: date, close: decimalText }));

export const reportFacts = z.object({
  version: z.literal(1),
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
  navs: z.array(navFact),
  /** Every fill since the fund began, oldest first. */
  fills: z.array(fill),
  /** Every ledger entry since the fund began, oldest first; none of the seeded history. */
  ledger: z.array(ledgerFact),
  /** Of every symbol that was held on a day without kept prices, ascending. */
  closes: z.record(z.string(), closes),
  benchmark: z.object({ symbol: z.string(), closes }).nullable(),
});
export type ReportFacts = z.infer<typeof reportFacts>;

/** Ten years of a busy fund have a few million characters. */
const lengthMax = 200_000_000;

export const factsText = (facts: ReportFacts): string => canonicalJson(facts, { lengthMax });

export function factsHash(facts: ReportFacts, sha256: (text: string) => Uint8Array): string {
  return [...sha256(factsText(facts))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

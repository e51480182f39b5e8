// Which of the newest fills a value does not have in it yet: treasury books a trade a moment after it happened, and a value is made every second. The quantities
// that were valued say how many of a symbol's newest fills are missing; where several answers fit (a purchase and a sale leave the quantity as it was), the
// ledger's cash decides. Where none fits, nothing is explained away: the difference stays.
import * as decimal from "../../contracts/src/decimal.ts";
import { type Instant, millisecondsBetween, parse } from "../../contracts/src/instant.ts";
import type { Fill } from "../../contracts/src/records/order.ts";
import type { NavFact, ReportFacts } from "../facts.ts";

type Decimal = decimal.Decimal;

/** Accounts that a value counts as cash: what is due counts from the ex-date on. */
export const cashAccounts: ReadonlySet<string> = new Set(["cash", "dividends_due"]);

/** A fill that is booked later than this after it happened is a difference, not a matter of timing. */
const bookingMsMax = 5_000;
/** Combinations over symbols that are tried; beyond them the fewest missing fills are taken. */
const combinationsMax = 4_096;

interface LedgerCash {
  /** Of every entry until then; null before the ledger begins. */
  until(at: Instant): Decimal | null;
  /** What the entry of this fill moved; zero without one. */
  ofFill(fillId: string): Decimal;
}

export function ledgerCashOf({ ledger, fund }: Pick<ReportFacts, "ledger" | "fund">): LedgerCash {
  const byFill = new Map<string, Decimal>();
  const rows = ledger.map(({ entry_id: id, at, postings }) => {
    const cash = postings
      .filter(({ account, currency }) => cashAccounts.has(account) && currency === fund.currency)
      .reduce((sum, { amount }) => decimal.add(sum, decimal.parse(amount)), decimal.zero);
    if (id.startsWith("fill:")) byFill.set(id.slice("fill:".length), cash);
    return { at: parse(at), cash };
  });
  rows.sort((one, other) => one.at - other.at);
  let sum = decimal.zero;
  const sums = rows.map(({ at, cash }) => {
    sum = decimal.add(sum, cash);
    return { at, sum };
  });
  return {
    until: (at) => sums.findLast((row) => row.at <= at)?.sum ?? null,
    ofFill: (fillId) => byFill.get(fillId) ?? decimal.zero,
  };
}

interface ValuedFills {
  readonly nav: NavFact;
  /** Those that happened until the value and are in none before it, by time. */
  readonly due: readonly Fill[];
  /** By the values before. */
  readonly held: ReadonlyMap<string, Decimal>;
  readonly ledger: LedgerCash;
  signedQuantity(fill: Fill): Decimal;
}

export function notYetBooked({ nav, due, held, ledger, signedQuantity }: ValuedFills): ReadonlySet<Fill> {
  if (due.length === 0) return new Set();
  const symbols = [...new Set(due.map((fill) => fill.symbol))];
  const answers = symbols.map((symbol) => {
    const own = due.filter((fill) => fill.symbol === symbol);
    return missingFrom(own, { nav, symbol, held: held.get(symbol) ?? decimal.zero, signedQuantity });
  });
  const fewest = answers.flatMap(([first = []]) => first);
  const booked = ledger.until(parse(nav.as_of));
  const wanted = booked === null ? null : decimal.subtract(booked, decimal.parse(nav.cash));
  const exact = wanted === null ? undefined : combinationOf(answers, wanted, ledger);
  return new Set(exact ?? fewest);
}

interface Valued extends Pick<ValuedFills, "nav" | "signedQuantity"> {
  readonly symbol: string;
  readonly held: Decimal;
}

/** Every number of newest fills without which the quantity is the one that was valued, the fewest first; none missing where no number fits. */
function missingFrom(
  own: readonly Fill[],
  { nav, symbol, held, signedQuantity }: Valued,
): readonly (readonly Fill[])[] {
  const valued = decimal.parse(nav.prices?.[symbol]?.quantity ?? "0");
  let quantity = own.reduce((sum, fill) => decimal.add(sum, signedQuantity(fill)), held);
  const found: Fill[][] = quantity === valued ? [[]] : [];
  const missing: Fill[] = [];
  for (const fill of [...own].reverse()) {
    if (millisecondsBetween(parse(fill.filled_at), parse(nav.as_of)) > bookingMsMax) break;
    quantity = decimal.subtract(quantity, signedQuantity(fill));
    missing.push(fill);
    if (quantity === valued) found.push([...missing]);
  }
  return found.length === 0 ? [[]] : found;
}

/** One answer of each symbol whose entries in the ledger are together the cash that the value lacks; undefined without one. */
function combinationOf(
  answers: readonly (readonly (readonly Fill[])[])[],
  wanted: Decimal,
  ledger: LedgerCash,
): readonly Fill[] | undefined {
  let sums = new Map<Decimal, readonly Fill[]>([[decimal.zero, []]]);
  for (const choices of answers) {
    const next = new Map<Decimal, readonly Fill[]>();
    for (const [sum, taken] of sums) {
      for (const missing of choices) {
        const cash = missing.reduce((total, fill) => decimal.add(total, ledger.ofFill(fill.fill_id)), sum);
        if (!next.has(cash)) next.set(cash, [...taken, ...missing]);
        if (next.size > combinationsMax) return undefined;
      }
    }
    sums = next;
  }
  return sums.get(wanted);
}

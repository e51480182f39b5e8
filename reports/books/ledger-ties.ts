// What must tie in the ledger by itself, entry by entry: both sides of each, and what each trade's entry moved against the trade. A sum over all of them, or
// the cash of the last day, can be right while two of them are wrong.
import * as decimal from "../../contracts/src/decimal.ts";
import type { Fill } from "../../contracts/src/records/order.ts";
import type { ReconciliationLine } from "../document.ts";
import type { ReportFacts } from "../facts.ts";
import { cashAccounts } from "./late-fills.ts";
import { sizeOf, tie, worstPair } from "./tie-out.ts";

type Decimal = decimal.Decimal;
type Entry = ReportFacts["ledger"][number];

interface Pair {
  readonly id: string;
  readonly left: Decimal;
  readonly right: Decimal;
}

export function ledgerTies(facts: ReportFacts, costOf: (fill: Fill) => Decimal): readonly ReconciliationLine[] {
  const trades = new Map(facts.fills.filter(isTrade).map((fill) => [`fill:${fill.fill_id}`, fill]));
  const moved = facts.ledger.flatMap((entry): readonly Pair[] => {
    const fill = trades.get(entry.entry_id);
    if (fill === undefined) return [];
    const cost = decimal.add(costOf(fill), decimal.parse(fill.fee ?? "0"));
    return [{ id: entry.entry_id, left: cashOf(entry, facts.fund.currency), right: decimal.negate(cost) }];
  });
  return [
    ...worstEntry("Debits = credits of every ledger entry", facts.ledger.flatMap(sidesOf)),
    ...worstEntry("Cash of a trade's ledger entry = the trade", moved),
  ];
}

const isTrade = ({ kind = "TRADE" }: Fill): boolean => kind === "TRADE";

const cashOf = ({ postings }: Entry, currency: string): Decimal =>
  postings
    .filter((posting) => cashAccounts.has(posting.account) && posting.currency === currency)
    .reduce((sum, { amount }) => decimal.add(sum, decimal.parse(amount)), decimal.zero);

/** One pair for each currency: currencies do not balance each other. */
function sidesOf({ entry_id: id, postings }: Entry): readonly Pair[] {
  const sides = new Map<string, { left: Decimal; right: Decimal }>();
  for (const { currency, amount } of postings) {
    const side = sides.get(currency) ?? { left: decimal.zero, right: decimal.zero };
    const value = decimal.parse(amount);
    if (value > decimal.zero) side.left = decimal.add(side.left, value);
    else side.right = decimal.subtract(side.right, value);
    sides.set(currency, side);
  }
  return [...sides.values()].map((side) => ({ id, ...side }));
}

/** The worst one is shown; none of nothing. */
function worstEntry(name: string, pairs: readonly Pair[]): readonly ReconciliationLine[] {
  const [found] = worstPair(pairs);
  if (found === undefined) return [];
  const wrong = pairs.filter((pair) => sizeOf(pair) !== decimal.zero).length;
  const said = wrong === 0 ? `${pairs.length}` : `${wrong} of ${pairs.length} differ; the most in ${found.id}`;
  return [tie(`${name} (${said})`, found.left, found.right)];
}

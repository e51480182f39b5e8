// When a trade settles and what cash moves then. The cycle is that of the trade's date, and only days on which the market SETTLES are counted: bank
// holidays on which the exchange trades are none, so such a trade settles together with the one of the day before.
import * as decimal from "../../contracts/src/decimal.ts";
import { compareText, dateOfDay, dayNumber, weekdayOf } from "./dates.ts";

type Decimal = decimal.Decimal;

/** As data: the cycle of a trade date is that of the latest `from` not after it. */
export interface SettlementRules {
  readonly cycles: readonly { readonly from: string; readonly days: number }[];
  /** Dates without settlement beside weekends; "never closed" for a market that settles every day. */
  readonly closed: ReadonlySet<string> | "never closed";
}

interface Settlement {
  readonly date: string;
  readonly cycle: `T+${number}`;
}

/** No market rests longer. */
const searchDaysMax = 60;

export function settlementOf(rules: SettlementRules, tradeDate: string): Settlement {
  const [first] = rules.cycles;
  if (first === undefined) throw new RangeError("A market's settlement has at least one cycle.");
  const cycle = rules.cycles.reduce((chosen, each) => (each.from <= tradeDate ? each : chosen), first);
  let day = dayNumber(tradeDate);
  for (let left = cycle.days; left > 0; left -= 1) day = nextSettlementDay(rules, day);
  return { date: dateOfDay(day), cycle: `T+${cycle.days}` };
}

function nextSettlementDay({ closed }: SettlementRules, from: number): number {
  for (let day = from + 1; day <= from + searchDaysMax; day += 1) {
    if (closed === "never closed") return day;
    if (weekdayOf(day) < 5 && !closed.has(dateOfDay(day))) return day;
  }
  throw new RangeError(`No settlement day within ${searchDaysMax} days: check the market's calendar.`);
}

interface TradeToSettle {
  readonly direction: 1 | -1;
  readonly quantity: Decimal;
  readonly price: Decimal;
  readonly fee: Decimal;
}

/** What the account gets (above zero) or pays when the trade settles. */
export function netCash({ direction, quantity, price, fee }: TradeToSettle): Decimal {
  const notional = decimal.multiply(quantity, price, "half-even");
  return decimal.subtract(direction === 1 ? decimal.negate(notional) : notional, fee);
}

type CashLadder = ReadonlyMap<string, ReadonlyMap<string, Decimal>>;

/** Cash by settlement date (ascending) and currency. */
export function cashLadder(
  settled: readonly { readonly date: string; readonly currency: string; readonly cash: Decimal }[],
): CashLadder {
  const days = new Map<string, Map<string, Decimal>>();
  for (const { date, currency, cash } of [...settled].sort((one, other) => compareText(one.date, other.date))) {
    const day = days.get(date) ?? new Map<string, Decimal>();
    day.set(currency, decimal.add(day.get(currency) ?? decimal.zero, cash));
    days.set(date, day);
  }
  return days;
}

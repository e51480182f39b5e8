// What would have saved how much: a tighter limit, by the orders that it would have denied, and half of the positions that lost most. Nothing is executed.
import * as decimal from "../../contracts/src/decimal.ts";
import { type BookDay, costOf, signedQuantity } from "../books/books.ts";
import type { Cell } from "../document.ts";
import type { ReportFacts } from "../facts.ts";
import { columnsOf, type Section, sectionOf, tableOf, textOf } from "../report-parts.ts";
import type { FallParts } from "./postmortem-parts.ts";

type Decimal = decimal.Decimal;

const money = decimal.format;
const times = (left: Decimal, right: Decimal): Decimal => decimal.multiply(left, right, "half-even");
const half = decimal.parse("-0.5");
const positionsMax = 3;

export function fixesSection(facts: ReportFacts, found: FallParts, days: readonly BookDay[]): Section {
  const limits = (facts.replays ?? []).map((replay) => limitRow(facts, replay, days));
  const positions = found.bySymbol
    .filter(({ amount }) => amount < 0n)
    .slice(0, positionsMax)
    .map(({ symbol, amount }): Cell[] => [
      `half as much of ${symbol}`,
      "the same prices, half the position",
      money(times(amount, half)),
      null,
    ]);
  const columns = columnsOf(
    "fix:Fix",
    "how:How it was counted",
    "avoided:Loss avoided:money",
    "command:Asks how orders would have been decided",
  );
  const unasked =
    facts.replays !== undefined && facts.replays.length === 0
      ? [textOf("fixes_unasked", "Orders could not be run against another limit: whoever made the report may not ask.")]
      : [];
  const note =
    "Estimates, which may overlap. A loss avoided below zero would have been a profit missed. Nothing is executed; a change of the envelope takes its own command and its own reason.";
  return sectionOf(
    "fixes",
    "Fixes",
    tableOf("fixes_table", "A tighter limit, and the largest losses by position", columns, [...limits, ...positions]),
    ...unasked,
    textOf("fixes_note", note),
  );
}

/** What the fills of the orders that it would have denied lost until the end of the fall. */
function limitRow(
  facts: ReportFacts,
  { limit, from, to, replayed, denied, unnamed }: NonNullable<ReportFacts["replays"]>[number],
  days: readonly BookDay[],
): Cell[] {
  const [first, last] = [days[0], days.at(-1)];
  const orders = new Set(denied);
  const multipliers = new Map(facts.instruments.map((each) => [each.symbol, decimal.parse(each.multiplier)]));
  const prices = new Map((last?.lines ?? []).map(({ symbol, price }) => [symbol, price]));
  const fills = first === undefined ? [] : days.flatMap((day) => day.fills).filter((fill) => orders.has(fill.order_id));
  const profits = fills.map((fill): Decimal => {
    const price = prices.get(fill.symbol) ?? closeOf(facts, fill.symbol, last?.day) ?? decimal.parse(fill.price);
    const units = times(signedQuantity(fill), multipliers.get(fill.symbol) ?? decimal.one);
    const gross = decimal.subtract(times(units, price), costOf(fill, multipliers));
    return decimal.subtract(gross, decimal.parse(fill.fee ?? "0"));
  });
  const avoided = decimal.negate(profits.reduce(decimal.add, decimal.zero));
  const more = unnamed === 0 ? "" : `, the first ${denied.length} of them counted`;
  return [
    `${limit} ${to} instead of ${from}`,
    `${denied.length + unnamed} of ${replayed} orders denied${more}; ${fills.length} fills at the end's prices`,
    money(avoided),
    `ctl riskengine envelope replay --fund-id ${facts.fund.fund_id} --${limit.replaceAll("_", "-")} ${to}`,
  ];
}

function closeOf(facts: ReportFacts, symbol: string, day: string | undefined): Decimal | undefined {
  const found = facts.closes[symbol]?.find((each) => each.day === day)?.close;
  return found === undefined ? undefined : decimal.parse(found);
}

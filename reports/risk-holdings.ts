// What is held now, as the risk figures see it: weights and the past returns of the same symbols, how long selling takes, and what shocks cost. Options are
// left out and named: their past prices are not those of the same contract.
import * as decimal from "../contracts/src/decimal.ts";
import { mean } from "../core/stats/moments.ts";
import { marketLine } from "../core/stats/relative-performance.ts";
import type { BookDay } from "./books/books.ts";
import type { Cell, ReportDocument } from "./document.ts";
import type { ReportFacts } from "./facts.ts";
import { marketAxis, returnsOn } from "./market-days.ts";
import { compareText } from "./metrics/dates.ts";
import { columnsOf, type Section, sectionOf, tableOf, textOf } from "./report-parts.ts";

export interface HeldRisk {
  readonly symbols: readonly string[];
  /** Fractions of NAV, signed. */
  readonly weights: readonly number[];
  /** Days by symbols, oldest first. */
  readonly rows: readonly (readonly number[])[];
  readonly dates: readonly string[];
  readonly exclusions: ReportDocument["exclusions"];
}

const daysMax = 500;

export function heldRisk(facts: ReportFacts, day: BookDay | undefined): HeldRisk {
  const nav = decimal.toNumber(day?.closing ?? decimal.zero);
  const options = optionsOf(facts);
  const axis = marketAxis(facts).filter((each) => each <= (day?.day ?? ""));
  const lines = nav > 0 ? (day?.lines ?? []) : [];
  const held = lines.flatMap(({ symbol, value }) => {
    const returns = returnsOn(axis, facts.closes[symbol] ?? []);
    return options.has(symbol) || returns.size === 0
      ? []
      : [{ symbol, returns, weight: decimal.toNumber(value) / nav }];
  });
  const dates = axis
    .filter((each) => held.length > 0 && held.every(({ returns }) => returns.has(each)))
    .slice(-daysMax);
  const left = lines.length - held.length;
  return {
    symbols: held.map(({ symbol }) => symbol),
    weights: held.map(({ weight }) => weight),
    rows: dates.map((each) => held.map(({ returns }) => returns.get(each) ?? 0)),
    dates,
    exclusions:
      left === 0
        ? []
        : [
            {
              what: "Positions outside VaR and stress",
              why: "Options, and symbols without past closes: their risk is in the limits above.",
              count: left,
            },
          ],
  };
}

const optionsOf = (facts: ReportFacts): ReadonlySet<string> =>
  new Set(facts.instruments.filter((each) => each.asset_class === "OPTION").map((each) => each.symbol));

const volumeDays = 20;
const participation = 0.2;

export function liquiditySection(facts: ReportFacts, day: BookDay | undefined): Section {
  const rows = (day?.lines ?? []).map((line): Cell[] => {
    const volumes = (facts.volumes?.[line.symbol] ?? [])
      .filter((each) => each.day <= (day?.day ?? ""))
      .slice(-volumeDays);
    const daily = mean(volumes.map(({ volume }) => Number(volume)));
    const quantity = Math.abs(decimal.toNumber(line.quantity));
    const days = daily === null || !(daily > 0) ? null : quantity / (participation * daily);
    return [line.symbol, decimal.format(line.quantity), daily, days, days === null ? "no volume is known" : ""];
  });
  const columns = columnsOf(
    "symbol:Symbol",
    "quantity:Quantity:quantity",
    "volume:Mean volume of a day:number",
    "days:Days to sell:number",
    "note:Note",
  );
  return sectionOf(
    "liquidity",
    "Liquidity",
    tableOf("days_to_sell", `At ${participation * 100} % of the mean volume of ${volumeDays} days`, columns, rows),
  );
}

const shocks = [-0.05, -0.1, -0.2, 0.1] as const;
const worstMax = 5;

export function stressSection(facts: ReportFacts, day: BookDay | undefined, held: HeldRisk): Section {
  const nav = decimal.toNumber(day?.closing ?? decimal.zero);
  const sectors = new Map(
    facts.instruments.map((each) => [each.symbol, each.sector ?? each.asset_class.toLowerCase()]),
  );
  const loss = (move: (symbol: string, at: number) => number): number =>
    held.weights.reduce((sum, weight, at) => sum + weight * move(held.symbols[at] ?? "", at), 0);
  const row = (name: string, share: number): Cell[] => [name, share, (share * nav).toFixed(2)];
  const named = [...new Set(held.symbols.map((symbol) => sectors.get(symbol) ?? "unknown"))].sort(compareText);
  const betas = betasOf(facts, held);
  const past = held.rows
    .map((returns, index) => ({ day: held.dates[index] ?? "", share: loss((_symbol, at) => returns[at] ?? 0) }))
    .sort((one, other) => one.share - other.share || compareText(one.day, other.day))
    .slice(0, worstMax);
  const rows: Cell[][] = [
    ...shocks.map((shock) =>
      row(
        `everything ${shock > 0 ? "+" : ""}${shock * 100} %`,
        loss(() => shock),
      ),
    ),
    ...named.map((sector) =>
      row(
        `${sector} -10 %`,
        loss((symbol) => ((sectors.get(symbol) ?? "unknown") === sector ? -0.1 : 0)),
      ),
    ),
    ...(betas === null
      ? []
      : [
          row(
            `${facts.benchmark?.symbol} -10 %, each by its beta`,
            loss((_symbol, at) => -0.1 * (betas[at] ?? 0)),
          ),
        ]),
    ...past.map((each) => row(`the day ${each.day} again`, each.share)),
  ];
  const columns = columnsOf("scenario:Scenario", "share:Of NAV:fraction", "money:Money:money");
  if (held.weights.length === 0)
    return sectionOf("stress", "Stress", textOf("stress_none", "Nothing is held that a shock could move."));
  return sectionOf("stress", "Stress", tableOf("stress_table", "What is held now under", columns, rows));
}

function betasOf(facts: ReportFacts, held: HeldRisk): readonly number[] | null {
  if (facts.benchmark === null) return null;
  const market = returnsOn(marketAxis(facts), facts.benchmark.closes);
  const days = held.dates.flatMap((day, index) =>
    market.has(day) ? [{ market: market.get(day) ?? 0, row: held.rows[index] ?? [] }] : [],
  );
  const betas = held.symbols.map(
    (_symbol, at) =>
      marketLine(
        days.map(({ row }) => row[at] ?? 0),
        days.map((each) => each.market),
      )?.beta ?? null,
  );
  return betas.some((beta) => beta === null) ? null : betas.map((beta) => beta ?? 0);
}

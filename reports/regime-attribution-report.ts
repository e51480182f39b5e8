// regime_attribution: in which kind of market a fund earned what it earned. A day's label uses the market up to the day before; money is summed exactly, so
// the regimes' sums are the change of NAV.
import * as decimal from "../contracts/src/decimal.ts";
import { maxDrawdown } from "../core/stats/drawdowns.ts";
import { booksOf } from "./books/books.ts";
import { tie, worstDay } from "./books/tie-out.ts";
import type { Block, Cell, ReportDocument } from "./document.ts";
import { metricMaker } from "./figures.ts";
import { type DatedReturns, marketAxis, returnsOn } from "./market-days.ts";
import { fitTwoStates } from "./metrics/fit-states.ts";
import { stateProbabilities } from "./metrics/hidden-states.ts";
import { compounded } from "./metrics/linking.ts";
import { type Regime, regimeAttribution } from "./metrics/regimes.ts";
import { type AttributedDay, attributedDays } from "./position-days.ts";
import { type Labels, labelNames, volatilityLabels, volatilityWindow } from "./regime-labels.ts";
import {
  chosenSections,
  columnsOf,
  documentOf,
  figuresSection,
  lineChart,
  qualityOf,
  type Section,
  sectionOf,
  tableOf,
  textOf,
} from "./report-parts.ts";
import type { Report, ReportInput } from "./shape.ts";

type Decimal = decimal.Decimal;

const sections = ["summary", "volatility_regimes", "transitions", "hidden_states", "days"] as const;
/** Fewer days of a regime say nothing. */
const regimeDaysMin = 20;

const money = decimal.format;
const total = (amounts: readonly Decimal[]): Decimal => amounts.reduce(decimal.add, decimal.zero);

interface States {
  readonly labels: readonly Regime[];
  readonly turbulent: readonly (number | null)[];
  readonly stay: readonly [number, number];
  readonly deviations: readonly [number, number];
  readonly from: Labels["from"];
}

function build(input: ReportInput): ReportDocument {
  const { facts, start, end } = input;
  const books = booksOf(facts, start, end);
  const days = attributedDays(facts, books.days);
  const make = metricMaker(facts, days.at(-1)?.day ?? null);
  const axis = marketAxis(facts);
  const market: DatedReturns = facts.benchmark === null ? new Map() : returnsOn(axis, facts.benchmark.closes);
  const { periods_per_year: perYear } = facts.fund;
  const found = volatilityLabels(
    facts,
    days.map(({ day }) => day),
    start,
  );
  const states = statesOf(axis, market, days, start);
  const returns = days.map((day) => day.return ?? 0);
  const labelled = found.labels.filter((label) => label !== "warmup").length;
  const linked = regimeAttribution(returns, found.labels, perYear);
  const n = days.length;
  const noMarket = facts.benchmark === null ? ("NO_BENCHMARK" as const) : ("TOO_FEW" as const);
  const metrics = [
    make("attributed_profit", total(days.map((day) => day.total)), n),
    make("twr", n === 0 || days.some((day) => day.return === null) ? null : compounded(returns), n, "NOT_DEFINED"),
    make("regime_linked_sum", linked.linkedSum, n, "NOT_DEFINED"),
    make("labelled_days", labelled, n),
    make("cut_low", found.cuts?.[0] ?? null, n, noMarket),
    make("cut_high", found.cuts?.[1] ?? null, n, noMarket),
  ];
  const all: readonly Section[] = [
    figuresSection(metrics),
    sectionOf(
      "volatility_regimes",
      "Volatility of the market",
      ...regimeBlocks("volatility", days, found.labels, perYear),
      cutsNote(found, facts.benchmark?.symbol),
    ),
    transitions(found.labels),
    hiddenStates(days, states, perYear),
    daySection(days, found.labels, states),
  ];
  return documentOf(input, {
    report: "regime_attribution",
    title: "Regime attribution",
    metrics,
    sections: chosenSections(all, input.include, sections),
    reconciliation: [
      ...books.reconciliation,
      ...worstDay(
        "Sum over positions = closing NAV - opening NAV - flows",
        days.map(({ day, total: left, changed: right }) => ({ day, left, right })),
      ),
      tie(
        "Sum over regimes = sum over days",
        total([...moneyBy(days, found.labels).values()]),
        total(days.map((day) => day.changed)),
      ),
    ],
    exclusions:
      labelled === n
        ? []
        : [
            {
              what: "Days without a label",
              why: `The market has no ${volatilityWindow} returns before them.`,
              count: n - labelled,
            },
          ],
    quality: [...qualityOf(facts, books.days), ...cutQuality(found, states)],
    parameters: { window_days: volatilityWindow },
  });
}

function cutQuality(found: Labels, states: States | null): ReportDocument["data_quality"] {
  const own = [found.from, states?.from].filter((from) => from === "the period itself").length;
  if (own === 0) return [];
  return [
    {
      what: "Cuts of the period itself",
      detail:
        "There are too few market days before the period: cuts or states are those of the period, which nobody knew while it ran.",
    },
  ];
}

const statesPastMin = 120;
/** States of nearly the same volatility are one: their labels would say nothing. */
const apartMin = 1.05;

/** By the filter as it stood after the day BEFORE; the smoother knows the future and labels nothing. */
function statesOf(
  axis: readonly string[],
  market: DatedReturns,
  days: readonly AttributedDay[],
  start: string,
): States | null {
  const known = axis.filter((day) => market.has(day));
  const row = known.map((day) => market.get(day) ?? 0);
  const past = row.slice(0, known.filter((day) => day < start).length);
  const isEnough = past.length >= statesPastMin;
  const model = fitTwoStates(isEnough ? past : row);
  if (model === null || model.deviations[1] < model.deviations[0] * apartMin) return null;
  const { filtered } = stateProbabilities(row, model);
  const before = new Map(known.map((day, index) => [day, index === 0 ? null : (filtered[index - 1] ?? null)]));
  const turbulent = days.map(({ day }) => before.get(day) ?? null);
  return {
    labels: turbulent.map((each): Regime => (each === null ? "warmup" : each > 0.5 ? "high" : "low")),
    turbulent,
    stay: model.stay,
    deviations: model.deviations,
    from: isEnough ? "before the period" : "the period itself",
  };
}

function moneyBy(days: readonly AttributedDay[], labels: readonly Regime[]): ReadonlyMap<Regime, Decimal> {
  const sums = new Map<Regime, Decimal>();
  for (const [index, day] of days.entries()) {
    const label = labels[index] ?? "warmup";
    sums.set(label, decimal.add(sums.get(label) ?? decimal.zero, day.total));
  }
  return sums;
}

function regimeBlocks(
  id: string,
  days: readonly AttributedDay[],
  labels: readonly Regime[],
  perYear: number,
): readonly Block[] {
  const returns = days.map((day) => day.return ?? 0);
  const { byRegime } = regimeAttribution(returns, labels, perYear);
  const sums = moneyBy(days, labels);
  const rows = [...byRegime].map(([regime, each]): Cell[] => [
    each.days < regimeDaysMin ? `${labelNames[regime]} (insufficient)` : labelNames[regime],
    each.days,
    each.days / days.length,
    money(sums.get(regime) ?? decimal.zero),
    each.contribution,
    each.mean,
    each.volatility,
    each.sharpe,
    each.hitRate,
    maxDrawdown(returns.filter((_each, index) => labels[index] === regime)),
    meanRun(labels, regime),
  ]);
  const columns = columnsOf(
    "regime:Regime",
    "days:Days:count",
    "share:Share:fraction",
    "profit:Profit:money",
    "contribution:Contribution, linked:fraction",
    "mean:Mean day:fraction",
    "volatility:Volatility:fraction",
    "sharpe:Sharpe:number",
    "hit_rate:Winning days:fraction",
    "drawdown:Drawdown:fraction",
    "duration:Mean run, days:number",
  );
  return [
    tableOf(
      `${id}_table`,
      "Profits sum to the change of NAV, contributions to the return",
      columns,
      rows,
      id === "volatility",
    ),
  ];
}

function meanRun(labels: readonly Regime[], regime: Regime): number | null {
  const own = labels.filter((label) => label === regime).length;
  const runs = labels.filter((label, index) => label === regime && labels[index - 1] !== regime).length;
  return runs === 0 ? null : own / runs;
}

function cutsNote({ cuts, from }: Labels, symbol: string | undefined): Block {
  const text =
    symbol === undefined || cuts === null
      ? "There is no market to take regimes from: no day has a label."
      : `A day's label is the volatility of ${symbol} over the ${volatilityWindow} days before it, cut at terciles of ${from}.`;
  return textOf("volatility_note", text);
}

function transitions(labels: readonly Regime[]): Section {
  const names = (["low", "mid", "high"] as const).filter((each) => labels.includes(each));
  const rows = names.map((from): Cell[] => {
    const next = labels.flatMap((label, index) =>
      label === from && index + 1 < labels.length ? [labels[index + 1]] : [],
    );
    return [
      labelNames[from],
      ...names.map((to) => (next.length === 0 ? null : next.filter((label) => label === to).length / next.length)),
    ];
  });
  const columns = [
    ...columnsOf("from:From"),
    ...names.map((to) => ({ id: to, title: `to ${labelNames[to]}`, kind: "fraction" as const })),
  ];
  return sectionOf(
    "transitions",
    "From one day to the next",
    tableOf("transition_table", "How often a day is followed by each kind", columns, rows),
  );
}

function hiddenStates(days: readonly AttributedDay[], states: States | null, perYear: number): Section {
  const title = "Two hidden states";
  if (states === null) {
    return sectionOf(
      "hidden_states",
      title,
      textOf(
        "hidden_none",
        "The market has too few returns, never moves, or is as volatile at all times: two states cannot be distinguished.",
      ),
    );
  }
  const state = (index: 0 | 1): Cell[] => [
    index === 0 ? "calm" : "turbulent",
    states.deviations[index] * Math.sqrt(perYear),
    states.stay[index],
    1 / (1 - states.stay[index]),
  ];
  const columns = columnsOf(
    "state:State",
    "volatility:Volatility:fraction",
    "stay:Stays the next day:fraction",
    "duration:Expected days:number",
  );
  return sectionOf(
    "hidden_states",
    title,
    tableOf("states", `Fitted to ${states.from}`, columns, [state(0), state(1)]),
    ...regimeBlocks("hidden", days, states.labels, perYear),
    lineChart(
      "turbulent",
      "Probability of the turbulent state after the day before (Hamilton's filter)",
      "fraction",
      days.map(({ day }) => day),
      [{ name: "turbulent", values: states.turbulent }],
    ),
  );
}

function daySection(days: readonly AttributedDay[], labels: readonly Regime[], states: States | null): Section {
  const rows = days.map((day, index): Cell[] => [
    day.day,
    labelNames[labels[index] ?? "warmup"],
    states === null ? null : labelNames[states.labels[index] ?? "warmup"],
    day.return,
    money(day.total),
    money(day.changed),
  ]);
  const columns = columnsOf(
    "day:Day:date",
    "volatility:Volatility",
    "state:State",
    "return:Return:fraction",
    "profit:Profit:money",
    "changed:NAV changed by:money",
  );
  return sectionOf("days", "Day by day", tableOf("regime_days", "Every day with its labels", columns, rows));
}

export const regimeAttributionReport: Report = {
  name: "regime_attribution",
  title: "Regime attribution",
  sentence:
    "In which kind of market a fund earned what it earned: by volatility of the days before, and by two hidden states.",
  sections,
  needs: [],
  build,
};

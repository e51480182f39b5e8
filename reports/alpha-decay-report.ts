// alpha_decay: how fast a strategy's signal loses its skill, over the horizon of its forecast, over its own memory and over the calendar. The backtest (in
// sample) and what was live stand apart: they are judged over different horizons and are never put into one ratio.
import * as decimal from "../contracts/src/decimal.ts";
import { acrossSymbols } from "../core/stats/information-coefficient.ts";
import { mean, standardDeviation } from "../core/stats/moments.ts";
import { booksOf } from "./books/books.ts";
import type { Cell, Metric, ReportDocument } from "./document.ts";
import type { BacktestFact, ReportFacts, SignalFact } from "./facts.ts";
import { type MetricMaker, metricMaker } from "./figures.ts";
import { marketAxis } from "./market-days.ts";
import { compareText } from "./metrics/dates.ts";
import { calendarTrend, curveFit, horizonDecay, signalMemory } from "./metrics/decay.ts";
import { rolling, rollingWindow } from "./metrics/performance.ts";
import { type HorizonSkill, isSingle, meanT, type SignalDay, signalTurnover, skillByHorizon } from "./metrics/skill.ts";
import {
  chosenSections,
  columnsOf,
  documentOf,
  figuresSection,
  lineChart,
  needed,
  qualityOf,
  type Section,
  sectionOf,
  tableOf,
  textOf,
} from "./report-parts.ts";
import { type Report, type ReportInput, ReportRefused } from "./shape.ts";

const sections = ["summary", "backtest", "calendar", "horizons", "memory", "net_alpha", "live"] as const;
/** Daily figures below which nothing is said of a backtest's skill, and moments of live ones. */
const backtestMin = 60;
const liveMin = 20;

interface Skill {
  readonly days: readonly string[];
  readonly values: readonly number[];
}

function build(input: ReportInput): ReportDocument {
  const { facts, start, end } = input;
  const strategyId = strategyOf(input);
  const books = booksOf(facts, start, end);
  const make = metricMaker(facts, books.days.at(-1)?.day ?? null);
  const backtest = needed(facts, "backtests").find((each) => each.strategy_id === strategyId);
  const tested = backtestSkill(backtest, start, end);
  const live = liveSkill(facts.signals?.[strategyId] ?? []);
  const signals = signalDays(backtest, start, end);
  const horizons = horizonsOf(facts, signals);
  const metrics = metricsOf(make, tested, live, horizons, signals);
  const all: readonly Section[] = [
    figuresSection(metrics),
    backtestSection(tested),
    calendarSection(tested),
    horizonSection(horizons),
    memorySection(signals),
    netAlpha(facts, horizons, signals),
    liveSection(live, facts.signals?.[strategyId] ?? []),
  ];
  return documentOf(input, {
    report: "alpha_decay",
    title: `Alpha decay of ${strategyId}`,
    metrics,
    sections: chosenSections(all, input.include, sections),
    reconciliation: books.reconciliation,
    exclusions: exclusionsOf(backtest, tested),
    quality: [
      ...qualityOf(facts, books.days),
      { what: "In sample", detail: "The backtest's figures are in sample: the strategy was made knowing those days." },
      {
        what: "Two horizons",
        detail:
          "A backtest's signal is judged over a day, a live one over its own horizon in seconds: the two are shown apart and not compared.",
      },
    ],
    parameters: { strategy_id: strategyId },
  });
}

function strategyOf({ facts, strategyId }: ReportInput): string {
  const known = (facts.strategies ?? facts.backtests ?? []).map((each) => each.strategy_id);
  if (strategyId !== undefined && known.includes(strategyId)) return strategyId;
  throw new ReportRefused(
    strategyId === undefined
      ? `Name the strategy: ${known.join(", ")}.`
      : `${facts.fund.fund_id} has no strategy ${JSON.stringify(strategyId)}. Its strategies are ${known.join(", ")}.`,
  );
}

function backtestSkill(backtest: BacktestFact | undefined, start: string, end: string): Skill {
  const kept = (isSingle(backtest?.signals) ? [] : (backtest?.days ?? [])).flatMap(
    ({ day, information_coefficient: value }) => (value === null || day < start || day > end ? [] : [{ day, value }]),
  );
  return { days: kept.map(({ day }) => day), values: kept.map(({ value }) => value) };
}

/** One a moment, of signals whose return is known; single names and pairs have none. */
function liveSkill(signals: readonly SignalFact[]): Skill {
  const moments = new Map<string, { symbol: string; value: number; realised: number }[]>();
  for (const { at, symbol, value, realised_return: realised } of signals) {
    if (realised === null) continue;
    const moment = moments.get(at) ?? [];
    moment.push({ symbol, value, realised });
    moments.set(at, moment);
  }
  const kept = [...moments]
    .sort(([one], [other]) => compareText(one, other))
    .flatMap(([at, moment]) => {
      const value = acrossSymbols(moment);
      return value === null ? [] : [{ at, value }];
    });
  return { days: kept.map(({ at }) => at), values: kept.map(({ value }) => value) };
}

function signalDays(backtest: BacktestFact | undefined, start: string, end: string): readonly SignalDay[] {
  const days = new Map<string, Map<string, number>>();
  for (const { day, symbol, value } of backtest?.signals ?? []) {
    if (day < start || day > end) continue;
    const values = days.get(day) ?? new Map<string, number>();
    values.set(symbol, value);
    days.set(day, values);
  }
  return [...days].sort(([one], [other]) => compareText(one, other)).map(([day, values]) => ({ day, values }));
}

function horizonsOf(facts: ReportFacts, signals: readonly SignalDay[]): readonly HorizonSkill[] {
  if (signals.length === 0) return [];
  const closes = new Map(
    Object.entries(facts.closes).map(([symbol, row]) => [
      symbol,
      new Map(row.map(({ day, close }) => [day, Number(close)])),
    ]),
  );
  return skillByHorizon(signals, marketAxis(facts), closes);
}

function metricsOf(
  make: MetricMaker,
  tested: Skill,
  live: Skill,
  horizons: readonly HorizonSkill[],
  signals: readonly SignalDay[],
): readonly Metric[] {
  const { values } = tested;
  const n = values.length;
  const enough = n >= backtestMin;
  const [middle, deviation] = [mean(values), standardDeviation(values)];
  const known = horizons.filter((each) => each.mean !== null);
  const decay = horizonDecay(
    known.map(({ horizon }) => horizon),
    known.map((each) => each.mean ?? 0),
  );
  const liveEnough = live.values.length >= liveMin;
  return [
    make("ic_mean", enough ? middle : null, n, "TOO_FEW"),
    make("ic_deviation", enough ? deviation : null, n, "TOO_FEW"),
    make(
      "ic_ratio",
      enough && middle !== null && deviation !== null && deviation > 0 ? middle / deviation : null,
      n,
      enough ? "CONSTANT" : "TOO_FEW",
    ),
    make("ic_t", enough ? meanT(values, 1) : null, n, enough ? "CONSTANT" : "TOO_FEW"),
    make("half_life_days", decay.halfLife, known.length, known.length < 3 ? "TOO_FEW" : "NO_DECAY"),
    make("signal_turnover", signalTurnover(signals).turnover, signals.length, "NO_DATA"),
    make("live_ic_mean", liveEnough ? mean(live.values) : null, live.values.length, "TOO_FEW"),
    make("live_ic_deviation", liveEnough ? standardDeviation(live.values) : null, live.values.length, "TOO_FEW"),
  ];
}

const insufficient = (n: number): string =>
  `Insufficient: ${n} days with a figure, and ${backtestMin} are needed. A signal of one name or two has no order across symbols.`;

function backtestSection({ days, values }: Skill): Section {
  const title = "Backtest, in sample";
  if (values.length < backtestMin)
    return sectionOf("backtest", title, textOf("backtest_none", insufficient(values.length)));
  const months = [...new Set(days.map((day) => day.slice(0, 7)))].sort(compareText);
  const rows = months.map((month): Cell[] => {
    const own = values.filter((_value, index) => days[index]?.startsWith(month));
    return [month, own.length, mean(own), standardDeviation(own), own.filter((value) => value > 0).length / own.length];
  });
  const columns = columnsOf(
    "month:Month",
    "days:Days:count",
    "mean:Mean IC:number",
    "deviation:Deviation:number",
    "positive:Days above 0:fraction",
  );
  return sectionOf(
    "backtest",
    title,
    lineChart("ic_month", "Information coefficient, mean of the 21 days before", "ratio", days, [
      { name: "IC, 21 days", values: rolling(values, 21, (window) => mean(window)) },
    ]),
    tableOf("ic_months", "By month", columns, rows, true),
  );
}

function calendarSection({ days, values }: Skill): Section {
  const title = "Over the calendar";
  const means = rolling(values, rollingWindow, (window) => mean(window));
  const known = means.flatMap((each) => (each === null ? [] : [each]));
  const trend = known.length < backtestMin ? null : calendarTrend(known);
  const half = Math.floor(values.length / 2);
  const [first, second] = [values.slice(0, half), values.slice(half)];
  const error = standardError(first, second);
  const [before, after] = [mean(first), mean(second)];
  if (values.length < backtestMin)
    return sectionOf("calendar", title, textOf("calendar_none", insufficient(values.length)));
  const rows: Cell[][] = [
    ["first half", before],
    ["second half", after],
    ["difference / its error", error === null || before === null || after === null ? null : (after - before) / error],
    [`slope of the ${rollingWindow}-day mean, per day`, trend?.slope ?? null],
    ["its t (Newey and West)", trend?.t ?? null],
  ];
  return sectionOf(
    "calendar",
    title,
    lineChart("ic_rolling", `Mean of ${rollingWindow} days`, "ratio", days, [{ name: "IC", values: means }]),
    tableOf("ic_trend", "Does skill fade?", columnsOf("what:What", "value:Value:number"), rows),
  );
}

function standardError(first: readonly number[], second: readonly number[]): number | null {
  const [one, other] = [standardDeviation(first), standardDeviation(second)];
  if (one === null || other === null) return null;
  const error = Math.sqrt(one ** 2 / first.length + other ** 2 / second.length);
  return error > 0 ? error : null;
}

function horizonSection(horizons: readonly HorizonSkill[]): Section {
  const title = "By horizon";
  if (horizons.length === 0) {
    return sectionOf(
      "horizons",
      title,
      textOf(
        "horizons_none",
        "The backtest's signals are not kept: there is one coefficient a day, of the next day's return, and none of longer horizons.",
      ),
    );
  }
  const known = horizons.filter((each) => each.mean !== null);
  const [at, skill] = [known.map(({ horizon }) => horizon), known.map((each) => each.mean ?? 0)];
  const [decay, curve] = [horizonDecay(at, skill), curveFit(at, skill)];
  const rows = horizons.map(({ horizon, mean: middle, n, t }): Cell[] => [horizon, middle, n, t]);
  const upper = decay.halfLifeInterval?.[1];
  const fits: Cell[][] = [
    ["status", decay.status],
    ["horizons left out (skill of 0 or below)", String(decay.dropped)],
    ["half-life, days (logarithms)", decay.halfLife === null ? "none" : decay.halfLife.toFixed(2)],
    [
      "95 % interval",
      decay.halfLifeInterval === null
        ? "none"
        : `${decay.halfLifeInterval[0].toFixed(2)} to ${upper === undefined || !Number.isFinite(upper) ? "no end" : upper.toFixed(2)}`,
    ],
    ["half-life, days (curve)", curve === null || curve.halfLife === null ? "none" : curve.halfLife.toFixed(2)],
  ];
  return sectionOf(
    "horizons",
    title,
    lineChart(
      "ic_horizon",
      "Mean information coefficient by days ahead",
      "ratio",
      horizons.map(({ horizon }) => String(horizon)),
      [{ name: "IC", values: horizons.map((each) => each.mean) }],
    ),
    tableOf(
      "ic_horizons",
      "t of every h-th day, which do not overlap",
      columnsOf("horizon:Days ahead:count", "mean:Mean IC:number", "n:Days:count", "t:t:number"),
      rows,
    ),
    tableOf("decay_fit", "ln IC(h) = ln IC(0) - rate x h", columnsOf("what:What", "value:Value"), fits),
  );
}

function memorySection(signals: readonly SignalDay[]): Section {
  const title = "Memory of the signal";
  if (signals.length < 3)
    return sectionOf("memory", title, textOf("memory_none", "The backtest's signals are not kept."));
  const symbols = [...new Set(signals.flatMap(({ values }) => [...values.keys()]))].sort(compareText);
  const rows = symbols.map((symbol): Cell[] => {
    const memory = signalMemory(
      signals.flatMap(({ values }) => values.get(symbol) ?? []),
      5,
    );
    const halfLife = memory?.halfLife ?? null;
    return [
      symbol,
      memory?.slope ?? null,
      memory?.lagCorrelation ?? null,
      halfLife === null || !Number.isFinite(halfLife) ? null : halfLife,
    ];
  });
  const { autocorrelation, turnover } = signalTurnover(signals);
  const note = `Rank correlation of neighbouring days: ${autocorrelation === null ? "none" : autocorrelation.toFixed(3)}; of the better half ${turnover === null ? "none" : `${(turnover * 100).toFixed(1)} %`} are new each day.`;
  const columns = columnsOf(
    "symbol:Symbol",
    "slope:AR(1) slope:number",
    "lag1:Lag 1:number",
    "half_life:Half-life, days:number",
  );
  return sectionOf("memory", title, tableOf("signal_memory", "By symbol", columns, rows), textOf("memory_note", note));
}

/** Grinold: skill x deviation for a score of one, less what turning over costs, at the fund's own fees. */
function netAlpha(facts: ReportFacts, horizons: readonly HorizonSkill[], signals: readonly SignalDay[]): Section {
  const title = "Net of costs";
  const { turnover } = signalTurnover(signals);
  const traded = facts.fills.reduce((sum, fill) => sum + Number(fill.quantity) * Number(fill.price), 0);
  const fees = decimal.toNumber(
    facts.fills.map((fill) => decimal.parse(fill.fee ?? "0")).reduce(decimal.add, decimal.zero),
  );
  const known = horizons.filter((each) => each.mean !== null && each.deviation !== null);
  if (turnover === null || traded === 0 || known.length === 0) {
    return sectionOf(
      "net_alpha",
      title,
      textOf("net_alpha_none", "Needs the backtest's signals and the fund's own fees."),
    );
  }
  const unit = fees / traded;
  const net = known.map((each) => {
    const gross = (each.mean ?? 0) * (each.deviation ?? 0);
    // Traded once per horizon: at most the whole book, both ways.
    const cost = (2 * Math.min(1, turnover * each.horizon) * unit) / each.horizon;
    return { horizon: each.horizon, gross: gross / each.horizon, cost, net: gross / each.horizon - cost };
  });
  const best = net.reduce((one, other) => (other.net > one.net ? other : one));
  const rows = net.map((each): Cell[] => [each.horizon, each.gross, each.cost, each.net]);
  const columns = columnsOf(
    "horizon:Rebalanced every, days:count",
    "gross:Gross per day:fraction",
    "cost:Cost per day:fraction",
    "net:Net per day:fraction",
  );
  return sectionOf(
    "net_alpha",
    title,
    tableOf("net_table", `Score of one; ${(unit * 10_000).toFixed(2)} basis points a trade`, columns, rows),
    textOf("net_note", `Days between rebalances that leave the most: ${best.horizon}.`),
  );
}

function liveSection(live: Skill, signals: readonly SignalFact[]): Section {
  const title = "Live";
  const seconds = [...new Set(signals.flatMap(({ horizon_s: each }) => (each === null ? [] : [each])))].sort(
    (one, other) => one - other,
  );
  const said = `${signals.length} signals, judged over ${seconds.length === 0 ? "no horizon yet" : `${seconds.join(", ")} s`}; ${live.values.length} moments have a coefficient.`;
  if (live.values.length < liveMin) {
    return sectionOf(
      "live",
      title,
      textOf("live_none", `Insufficient: ${said} ${liveMin} are needed; a signal of fewer than five names has none.`),
    );
  }
  return sectionOf(
    "live",
    title,
    lineChart("live_ic", "Mean of the 20 moments before", "ratio", live.days, [
      { name: "IC", values: rolling(live.values, liveMin, (window) => mean(window)) },
    ]),
    textOf("live_note", said),
  );
}

function exclusionsOf(backtest: BacktestFact | undefined, tested: Skill): ReportDocument["exclusions"] {
  const left = (backtest?.days.length ?? 0) - tested.values.length;
  return [
    ...(backtest === undefined ? [{ what: "Backtest", why: "The strategy has none.", count: 1 }] : []),
    ...(left > 0
      ? [
          {
            what: "Days of the backtest without a coefficient",
            why: "Outside the window, fewer than five symbols, or nothing moved.",
            count: left,
          },
        ]
      : []),
    ...(backtest !== undefined && backtest.signals === undefined
      ? [{ what: "IC by horizon, memory and net alpha", why: "The backtest's signals are not kept.", count: 3 }]
      : []),
  ];
}

export const alphaDecayReport: Report = {
  name: "alpha_decay",
  title: "Alpha decay",
  sentence:
    "How fast a strategy's signal loses its skill: over the calendar, by horizon and by its own memory, backtest and live apart.",
  sections,
  needs: ["strategies", "backtests", "signals", "universe"],
  build,
};

// factor_attribution: what of a fund's returns common factors explain, by regression and by its holdings, and where it differs from its universe.
import * as decimal from "../contracts/src/decimal.ts";
import { mean, sum } from "../core/stats/moments.ts";
import { type BookDay, booksOf } from "./books/books.ts";
import { worstDay } from "./books/tie-out.ts";
import { brinsonSection } from "./brinson-section.ts";
import type { Block, Cell, ReportDocument } from "./document.ts";
import { type Factor, factorsOf } from "./factors.ts";
import type { ReportFacts } from "./facts.ts";
import { metricMaker } from "./figures.ts";
import { type DatedReturns, marketAxis, returnsOn } from "./market-days.ts";
import { compareText } from "./metrics/dates.ts";
import { rollingWindow } from "./metrics/performance.ts";
import {
  type FactorFit,
  factorFit,
  type HoldingsAttribution,
  holdingsAttribution,
  type NoFit,
} from "./metrics/regression.ts";
import { sectorsOf } from "./position-attribution-report.ts";
import { type AttributedDay, attributedDays } from "./position-days.ts";
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
import type { Report, ReportInput } from "./shape.ts";

const sections = ["summary", "regression", "rolling_betas", "holdings", "brinson", "days"] as const;
/** Observations per factor below which a regression is refused. */
const perFactorMin = 10;
/** From here on factors say the same thing twice. */
const inflationMax = 10;

const money = decimal.format;

interface Sample {
  readonly factors: readonly Factor[];
  readonly days: readonly AttributedDay[];
  readonly y: readonly number[];
  readonly rows: readonly (readonly number[])[];
}

function build(input: ReportInput): ReportDocument {
  const { facts, start, end } = input;
  needed(facts, "universe");
  const books = booksOf(facts, start, end);
  const days = attributedDays(facts, books.days);
  const make = metricMaker(facts, days.at(-1)?.day ?? null);
  const sample = sampleOf(factorsOf(facts), days);
  const n = sample.days.length;
  const fit = fitOf(sample, facts.fund.periods_per_year);
  const found = "coefficients" in fit ? fit : null;
  const brinson = brinsonSection(facts, books.days, days, sectorsOf(facts));
  const holdings = holdingsSection(facts, books.days, days, sample);
  const none = n < perFactorMin * Math.max(1, sample.factors.length) ? ("TOO_FEW" as const) : ("NOT_DEFINED" as const);
  const metrics = [
    make("attributed_profit", days.map((day) => day.total).reduce(decimal.add, decimal.zero), days.length),
    make("factor_days", n, n),
    make("factor_alpha", found?.coefficients[0] ?? null, n, none),
    make("factor_r2", found?.r2 ?? null, n, none),
    make("factor_adjusted_r2", found?.adjustedR2 ?? null, n, none),
    make("durbin_watson", found?.durbinWatson ?? null, n, none),
    make("factor_common", holdings.common, n, none),
    make("factor_specific", holdings.specific, n, none),
    make("brinson_active", brinson.active, n, "NO_DATA"),
    make("brinson_effects", brinson.effects, n, "NO_DATA"),
  ];
  const all: readonly Section[] = [
    figuresSection(metrics, definitionsTable(sample.factors)),
    regression(sample, fit, facts.fund.periods_per_year),
    rollingBetas(sample),
    holdings.section,
    brinson.section,
    daySection(sample, found),
  ];
  const left = days.length - n;
  return documentOf(input, {
    report: "factor_attribution",
    title: "Factor attribution",
    metrics,
    sections: chosenSections(all, input.include, sections),
    reconciliation: [
      ...books.reconciliation,
      ...worstDay(
        "Sum over positions = closing NAV - opening NAV - flows",
        days.map(({ day, total: left, changed: right }) => ({ day, left, right })),
      ),
    ],
    exclusions: [
      ...(left === 0
        ? []
        : [
            {
              what: "Days without every factor",
              why: "A close that one of the factors needs is not known.",
              count: left,
            },
          ]),
      ...holdings.exclusions,
      ...brinson.exclusions,
    ],
    quality: [...qualityOf(facts, books.days), ...inflated(sample, facts.fund.periods_per_year)],
    parameters: { factors: sample.factors.map(({ name }) => name) },
  });
}

function sampleOf(factors: readonly Factor[], days: readonly AttributedDay[]): Sample {
  const kept = days.filter(
    ({ day, return: own }) => own !== null && factors.length > 0 && factors.every(({ returns }) => returns.has(day)),
  );
  return {
    factors,
    days: kept,
    y: kept.map((day) => day.return ?? 0),
    rows: kept.map(({ day }) => factors.map(({ returns }) => returns.get(day) ?? 0)),
  };
}

function fitOf({ factors, y, rows }: Sample, perYear: number): FactorFit | NoFit {
  if (factors.length === 0 || y.length < perFactorMin * factors.length) {
    return { rankDeficient: false, rank: 0, reason: "INSUFFICIENT_DATA" };
  }
  return factorFit(y, rows, perYear);
}

/** 1 / (1 - R2) of each factor on the others; null alone, and infinite where the others make it. */
function inflation({ factors, rows }: Sample, at: number, perYear: number): number | null {
  if (factors.length < 2 || rows.length <= factors.length + 1) return null;
  const others = rows.map((row) => row.filter((_each, index) => index !== at));
  const fit = factorFit(
    rows.map((row) => row[at] ?? 0),
    others,
    perYear,
  );
  if (!("coefficients" in fit) || fit.r2 === null) return null;
  return fit.r2 >= 1 ? null : 1 / (1 - fit.r2);
}

function inflated(sample: Sample, perYear: number): ReportDocument["data_quality"] {
  const high = sample.factors.filter((_factor, at) => (inflation(sample, at, perYear) ?? 0) > inflationMax);
  if (high.length === 0) return [];
  return [
    {
      what: "Factors alike",
      detail: `${high.map(({ name }) => name).join(", ")}: variance inflation above ${inflationMax}; their coefficients stand for each other.`,
    },
  ];
}

const definitionsTable = (factors: readonly Factor[]) =>
  tableOf(
    "factor_definitions",
    "The factors",
    columnsOf("factor:Factor", "definition:Made of"),
    factors.map(({ name, definition }): Cell[] => [name, definition]),
  );

function regression(sample: Sample, fit: FactorFit | NoFit, perYear: number): Section {
  const title = "By regression";
  if (!("coefficients" in fit)) {
    const why =
      fit.reason === "RANK_DEFICIENT"
        ? `the factors depend on each other (rank ${fit.rank})`
        : `there are ${sample.y.length} days for ${sample.factors.length} factors, and ${perFactorMin} are needed for each`;
    return sectionOf("regression", title, textOf("regression_none", `No regression: ${why}.`));
  }
  const names = ["alpha", ...sample.factors.map(({ name }) => name)];
  const rows = names.map((name, at): Cell[] => [
    name,
    fit.coefficients[at] ?? null,
    fit.neweyWest.errors[at] ?? null,
    fit.neweyWest.t[at] ?? null,
    fit.p[at] ?? null,
    fit.contributions[at] ?? null,
    at === 0 ? null : (fit.varianceShares[at - 1] ?? null),
    at === 0 ? null : inflation(sample, at - 1, perYear),
  ]);
  const columns = columnsOf(
    "factor:Factor",
    "coefficient:Coefficient:number",
    "error:Error:number",
    "t:t:number",
    "p:p:number",
    "contribution:Of the mean day:fraction",
    "risk:Of the variance:fraction",
    "inflation:Variance inflation:number",
  );
  const note = `y = a + F b over ${sample.y.length} days, errors by Newey and West with lag ${fit.lag} and n / (n - k), p by Student's t. Contributions sum to the mean day, ${(fit.mean * 100).toFixed(4)} %.`;
  return sectionOf(
    "regression",
    title,
    tableOf("coefficients", "What each factor explains", columns, rows, true),
    textOf("regression_note", note),
  );
}

function rollingBetas({ factors, days, y, rows }: Sample): Section {
  const title = "Rolling coefficients";
  if (y.length < rollingWindow || factors.length === 0) {
    return sectionOf("rolling_betas", title, textOf("rolling_none", `There are fewer than ${rollingWindow} days.`));
  }
  const fits = y.map((_each, index) => {
    if (index + 1 < rollingWindow) return null;
    const [from, to] = [index + 1 - rollingWindow, index + 1];
    const fit = factorFit(y.slice(from, to), rows.slice(from, to), 1);
    return "coefficients" in fit ? fit.coefficients : null;
  });
  const series = factors.map(({ name }, at) => ({ name, values: fits.map((each) => each?.[at + 1] ?? null) }));
  return sectionOf(
    "rolling_betas",
    title,
    lineChart(
      "betas",
      `Coefficients of the ${rollingWindow} days before`,
      "ratio",
      days.map(({ day }) => day),
      series,
    ),
  );
}

interface Holdings {
  readonly section: Section;
  readonly common: number | null;
  readonly specific: number | null;
  readonly exclusions: ReportDocument["exclusions"];
}

/** Loadings of every symbol from its own closes; what was held at the open times them is the exposure. */
function holdingsSection(
  facts: ReportFacts,
  books: readonly BookDay[],
  days: readonly AttributedDay[],
  sample: Sample,
): Holdings {
  const title = "By holdings";
  const inside = new Set(sample.days.map(({ day }) => day));
  const own = books.filter(({ day }) => inside.has(day));
  const symbols = [...new Set(own.flatMap(({ openLines }) => openLines.map(({ symbol }) => symbol)))].sort(compareText);
  const axis = marketAxis(facts);
  const loaded = symbols.flatMap((symbol) => {
    const loading = loadingOf(returnsOn(axis, facts.closes[symbol] ?? []), sample.factors);
    return loading === null ? [] : [{ symbol, loading }];
  });
  const exclusions =
    loaded.length === symbols.length
      ? []
      : [
          {
            what: "Symbols without loadings",
            why: "Too few closes for a regression: they count as specific.",
            count: symbols.length - loaded.length,
          },
        ];
  if (loaded.length === 0 || days.length === 0) {
    return {
      section: sectionOf(
        "holdings",
        title,
        textOf("holdings_none", "Nothing was held whose loadings can be estimated."),
      ),
      common: null,
      specific: null,
      exclusions,
    };
  }
  const weights = own.map((book) => {
    const nav = decimal.toNumber(book.opening);
    const values = new Map(book.openLines.map(({ symbol, value }) => [symbol, decimal.toNumber(value) / nav]));
    return loaded.map(({ symbol }) => values.get(symbol) ?? 0);
  });
  const found = holdingsAttribution(
    weights,
    loaded.map(({ loading }) => loading),
    sample.rows,
    sample.y,
  );
  const [common, specific] = [sum(found.common), sum(found.specific)];
  return {
    section: sectionOf("holdings", title, ...holdingBlocks(sample.factors, found)),
    common,
    specific,
    exclusions,
  };
}

function holdingBlocks(factors: readonly Factor[], found: HoldingsAttribution): Block[] {
  const rows = factors.map(({ name }, at): Cell[] => [
    name,
    mean(found.exposures.map((row) => row[at] ?? 0)),
    sum(found.byFactor.map((row) => row[at] ?? 0)),
  ]);
  const parts: Cell[][] = [
    ["common", sum(found.common)],
    ["of which by the mean exposure (tilt)", sum(found.tilt)],
    ["of which by its changes (timing)", sum(found.timing)],
    ["specific", sum(found.specific)],
  ];
  const columns = columnsOf("factor:Factor", "exposure:Mean exposure:number", "sum:Sum of daily parts:fraction");
  const note =
    "Loadings are estimated over all closes of the facts, the period's own included: they describe, they do not predict.";
  return [
    tableOf("exposures", "Exposure at the open x the factor's return", columns, rows),
    tableOf(
      "holding_parts",
      "Sums of daily returns, not compounded",
      columnsOf("part:Part", "sum:Sum:fraction"),
      parts,
    ),
    textOf("holdings_note", note),
  ];
}

function loadingOf(returns: DatedReturns, factors: readonly Factor[]): readonly number[] | null {
  const kept = [...returns].filter(([day]) => factors.every((factor) => factor.returns.has(day)));
  if (kept.length < perFactorMin * factors.length) return null;
  const fit = factorFit(
    kept.map(([, each]) => each),
    kept.map(([day]) => factors.map((factor) => factor.returns.get(day) ?? 0)),
    1,
  );
  return "coefficients" in fit ? fit.coefficients.slice(1) : null;
}

function daySection({ factors, days, rows, y }: Sample, fit: FactorFit | null): Section {
  const cells = days.map((day, index): Cell[] => {
    const parts = factors.map((_factor, at) =>
      fit === null ? null : (fit.coefficients[at + 1] ?? 0) * (rows[index]?.[at] ?? 0),
    );
    const alpha = fit?.coefficients[0] ?? null;
    const rest = fit === null ? null : (y[index] ?? 0) - sum([alpha ?? 0, ...parts.map((each) => each ?? 0)]);
    return [day.day, day.return, alpha, ...parts, rest, money(day.total), money(day.changed)];
  });
  const columns = [
    ...columnsOf("day:Day:date", "return:Return:fraction", "alpha:Alpha:fraction"),
    ...factors.map(({ name }, at) => ({ id: `factor_${at + 1}`, title: name, kind: "fraction" as const })),
    ...columnsOf("rest:Not explained:fraction", "profit:Profit:money", "changed:NAV changed by:money"),
  ];
  return sectionOf(
    "days",
    "Day by day",
    tableOf("factor_days_table", "Alpha, factors and what they do not explain sum to the day's return", columns, cells),
  );
}

export const factorAttributionReport: Report = {
  name: "factor_attribution",
  title: "Factor attribution",
  sentence:
    "What of a fund's returns common factors explain, by regression and by holdings, and where it differs from its universe.",
  sections,
  needs: ["universe"],
  build,
};

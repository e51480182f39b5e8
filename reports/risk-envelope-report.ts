// risk_envelope_report: how much of every limit a fund uses, what it may lose in a day by three measures whose parts add up, whether past measures held,
// how long it takes to sell, and what shocks would cost.
import * as decimal from "../contracts/src/decimal.ts";
import { booksOf } from "./books/books.ts";
import type { Cell, ReportDocument } from "./document.ts";
import type { ReportFacts } from "./facts.ts";
import { metricMaker } from "./figures.ts";
import { compareText } from "./metrics/dates.ts";
import { baselZone, type PortfolioRisk, portfolioRisk } from "./metrics/value-at-risk.ts";
import { returnsOf } from "./performance-sections.ts";
import { shownMoment } from "./render/numbers.ts";
import {
  chosenSections,
  columnsOf,
  documentOf,
  figuresSection,
  needed,
  qualityOf,
  type Section,
  sectionOf,
  tableOf,
  textOf,
} from "./report-parts.ts";
import { backtestSection, type RiskHistory, riskHistory } from "./risk-history.ts";
import { type HeldRisk, heldRisk, liquiditySection, stressSection } from "./risk-holdings.ts";
import type { Report, ReportInput } from "./shape.ts";
import { tradeDates } from "./trade-dates.ts";

const sections = [
  "summary",
  "limits",
  "denials",
  "versions",
  "value_at_risk",
  "components",
  "backtest",
  "liquidity",
  "stress",
] as const;
const confidences = [0.95, 0.99] as const;
/** Days per position below which a covariance is mostly noise. */
const daysPerPosition = 10;

function build(input: ReportInput): ReportDocument {
  const { facts, start, end } = input;
  const use = needed(facts, "limit_use");
  const books = booksOf(facts, start, end);
  const returns = returnsOf(facts, books.days);
  const last = books.days.at(-1);
  const make = metricMaker(facts, last?.day ?? null);
  const held = heldRisk(facts, last);
  const risks = confidences.map((confidence) => portfolioRisk(held.rows, held.weights, confidence));
  const [risk95 = null, risk99 = null] = held.weights.length === 0 ? [] : risks;
  const history = riskHistory(facts, end);
  const n = held.rows.length;
  const zone = history.backtest === null ? null : baselZone(history.backtest.exceptions, history.days, 1 - 0.99);
  const few = held.weights.length === 0 ? ("NO_DATA" as const) : ("TOO_FEW" as const);
  const metrics = [
    make("closing_nav", last?.closing ?? null, books.days.length),
    make("gross_exposure", risk99?.gross ?? 0, held.weights.length),
    make("net_exposure", risk99?.net ?? 0, held.weights.length),
    make(
      "beta",
      returns.relative?.beta ?? null,
      returns.table.n,
      facts.benchmark === null ? "NO_BENCHMARK" : "TOO_FEW",
    ),
    make("var_historical_95", risk95?.historicalVar ?? null, n, few),
    make("var_parametric_95", risk95?.parametricVar ?? null, n, few),
    make("var_cornish_fisher_95", risk95?.cornishFisherVar ?? null, n, few),
    make("var_historical_99", risk99?.historicalVar ?? null, n, few),
    make("var_parametric_99", risk99?.parametricVar ?? null, n, few),
    make("var_cornish_fisher_99", risk99?.cornishFisherVar ?? null, n, few),
    make("shortfall_975", risk99?.parametricShortfall ?? null, n, few),
    make("component_var_sum", risk99?.components?.reduce((sum, each) => sum + each, 0) ?? null, n, few),
    make("diversification_ratio", risk99?.diversificationRatio ?? null, n, few),
    make("concentration", risk99?.concentration ?? null, held.weights.length),
    make("var_exceptions", history.backtest?.exceptions ?? null, history.days, "TOO_FEW"),
    make("kupiec_p", history.backtest?.kupiecP ?? null, history.days, "TOO_FEW"),
  ];
  const all: readonly Section[] = [
    figuresSection(metrics),
    limits(use),
    denials(facts, start, end),
    versions(facts),
    valueAtRisk(risk95, risk99, last?.closing ?? decimal.zero),
    components(held, risk99, last?.closing ?? decimal.zero),
    backtestSection(history, zone),
    liquiditySection(facts, last),
    stressSection(facts, last, held),
  ];
  return documentOf(input, {
    report: "risk_envelope_report",
    title: "Risk envelope report",
    metrics,
    sections: chosenSections(all, input.include, sections),
    reconciliation: books.reconciliation,
    exclusions: held.exclusions,
    quality: [...qualityOf(facts, books.days), ...riskQuality(facts, held, history)],
    parameters: { confidences: confidences.map(String), participation: "0.2" },
  });
}

function riskQuality(facts: ReportFacts, held: HeldRisk, history: RiskHistory): ReportDocument["data_quality"] {
  const quality: ReportDocument["data_quality"] = [];
  if (held.weights.length > 0 && held.rows.length < daysPerPosition * held.weights.length) {
    quality.push({
      what: "Few days for a covariance",
      detail: `${held.rows.length} days for ${held.weights.length} positions: components are rough.`,
    });
  }
  if (history.backtest === null) {
    quality.push({
      what: "VaR not tested",
      detail: `Fewer than ${history.windowDays + 1} returns: whether past measures held is not known, which is not the same as that they did.`,
    });
  }
  const uncounted = (facts.limit_use ?? []).filter(({ share }) => share === null).length;
  if (uncounted > 0) {
    quality.push({
      what: "Limits that cannot be counted",
      detail: `${uncounted} limits have no use that can be counted now; new risk is denied there.`,
    });
  }
  return quality;
}

/** The others are the envelope's own names. */
const limitNames: Readonly<Record<string, string>> = {
  daily: "daily_loss_halt_pct",
  weekly: "weekly_loss_halt_pct",
  monthly: "monthly_loss_halt_pct",
  strategy: "strategy_loss_halt_pct",
};

function limits(use: NonNullable<ReportFacts["limit_use"]>): Section {
  const sorted = [...use].sort(
    (one, other) =>
      (other.share ?? 2) - (one.share ?? 2) ||
      compareText(`${one.limit} ${one.scope}`, `${other.limit} ${other.scope}`),
  );
  const rows = sorted.map(({ limit, scope, used, allowed, share, reason }): Cell[] => {
    const headroom =
      used === null || allowed === null
        ? null
        : decimal.format(decimal.subtract(decimal.parse(allowed), decimal.parse(used)));
    const state =
      share === null ? "cannot be counted" : share > 1 ? "BREACHED" : share === 1 ? "at the limit" : "within";
    return [limitNames[limit] ?? limit, scope === "" ? "fund" : scope, used, allowed, share, headroom, state, reason];
  });
  const columns = columnsOf(
    "limit:Limit",
    "scope:Of",
    "used:Used:money",
    "allowed:Allowed:money",
    "share:Share:fraction",
    "headroom:Headroom:money",
    "state:State",
    "reason:Reason",
  );
  const [first] = use;
  const note =
    first === undefined
      ? "No use of limits is known for that moment: it is only counted for the present."
      : `Counted by the risk engine at ${shownMoment(first.as_of)}.`;
  return sectionOf(
    "limits",
    "Limits",
    tableOf("limit_use", "Every limit with its use, the fullest first", columns, rows, true),
    textOf("limits_note", note),
  );
}

function denials(facts: ReportFacts, start: string, end: string): Section {
  const dateOf = tradeDates(facts);
  const inside = (facts.denials ?? []).filter(({ at }) => dateOf(at) >= start && dateOf(at) <= end);
  const keys = [...new Set(inside.map(({ gate, code }) => `${gate} ${code}`))].sort(compareText);
  const rows = keys.map((key): Cell[] => {
    const own = inside.filter(({ gate, code }) => `${gate} ${code}` === key);
    return [
      own[0]?.gate ?? "",
      own[0]?.code ?? "",
      own.length,
      own
        .map(({ at }) => at)
        .sort(compareText)
        .at(-1) ?? null,
    ];
  });
  const columns = columnsOf("gate:Gate", "code:Code", "count:Denials:count", "last:Last");
  return sectionOf(
    "denials",
    "Denials",
    tableOf("denial_codes", "Orders that were denied in the period, by reason", columns, rows),
  );
}

/** Newest first, each with what it changed against the version before it. */
function versions(facts: ReportFacts): Section {
  const ordered = [...(facts.envelopes ?? [])].sort((one, other) => one.version - other.version);
  const rows = ordered.map((each, index): Cell[] => {
    const before = ordered[index - 1]?.limits ?? {};
    const names = [...new Set([...Object.keys(before), ...Object.keys(each.limits)])].sort(compareText);
    const changed = names.filter((name) => before[name] !== each.limits[name]);
    const said =
      index === 0
        ? `${names.length} fields`
        : changed.map((name) => `${name}: ${before[name] ?? "none"} to ${each.limits[name] ?? "none"}`).join("; ");
    return [each.version, each.updated_at, each.updated_by, said];
  });
  const columns = columnsOf("version:Version:count", "at:Set at", "by:By", "changed:Changed");
  return sectionOf(
    "versions",
    "Versions of the envelope",
    tableOf("envelope_versions", "Every version, newest first", columns, rows.reverse()),
  );
}

const inMoney = (share: number | null | undefined, nav: decimal.Decimal): Cell =>
  share === null || share === undefined ? null : (share * decimal.toNumber(nav)).toFixed(2);

function valueAtRisk(risk95: PortfolioRisk | null, risk99: PortfolioRisk | null, nav: decimal.Decimal): Section {
  const row = (name: string, value: (risk: PortfolioRisk | null) => number | null | undefined): Cell[] => [
    name,
    value(risk95) ?? null,
    inMoney(value(risk95), nav),
    value(risk99) ?? null,
    inMoney(value(risk99), nav),
  ];
  const rows = [
    row("historical", (risk) => risk?.historicalVar),
    row("parametric (normal, mean zero)", (risk) => risk?.parametricVar),
    row("Cornish and Fisher", (risk) => risk?.cornishFisherVar),
    row("expected shortfall, historical", (risk) => risk?.historicalShortfall),
  ];
  const columns = columnsOf(
    "measure:Measure",
    "at95:95 %:fraction",
    "money95:95 %, money:money",
    "at99:99 %:fraction",
    "money99:99 %, money:money",
  );
  return sectionOf(
    "value_at_risk",
    "Value at risk of a day",
    tableOf("var_table", "Of what is held now, over the days of the facts; a loss is above zero", columns, rows),
  );
}

function components({ symbols, weights }: HeldRisk, risk: PortfolioRisk | null, nav: decimal.Decimal): Section {
  const title = "Components";
  const parts = risk?.components ?? null;
  if (risk === null || parts === null) {
    return sectionOf(
      "components",
      title,
      textOf("components_none", "There is nothing that moves to share a value at risk."),
    );
  }
  const rows = symbols.map((symbol, at): Cell[] => [
    symbol,
    weights[at] ?? null,
    parts[at] ?? null,
    inMoney(parts[at], nav),
    risk.parametricVar === null || risk.parametricVar === 0 ? null : (parts[at] ?? 0) / risk.parametricVar,
    risk.marginals?.[at] ?? null,
  ]);
  const sum = parts.reduce((total, each) => total + each, 0);
  const columns = columnsOf(
    "symbol:Symbol",
    "weight:Share of NAV:fraction",
    "component:Component:fraction",
    "money:Component, money:money",
    "share:Of the whole:fraction",
    "marginal:Marginal:number",
  );
  return sectionOf(
    "components",
    title,
    tableOf("component_var", "Of the parametric VaR at 99 %", columns, [
      ...rows,
      ["all", null, sum, inMoney(sum, nav), 1, null],
    ]),
  );
}

export const riskEnvelopeReport: Report = {
  name: "risk_envelope_report",
  title: "Risk envelope report",
  sentence:
    "How much of every limit a fund uses, what it may lose in a day, whether past measures held, and what shocks would cost.",
  sections,
  needs: ["limit_use", "denials", "envelopes", "universe", "volumes"],
  build,
};

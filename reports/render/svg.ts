// A chart as one piece of SVG: no script, no style from outside, no id that another render would number differently. Colours are the page's own
// variables, so that it follows light and dark; a chart that stands alone brings the colours of paper.
import type { Chart } from "../document.ts";
import { escaped } from "./escape.ts";
import { percent, shownMoney } from "./numbers.ts";

const width = 760;
const height = 240;
const margin = { left: 72, right: 12, top: 12, bottom: 28 };
const lineHeight = 14;
/** Of a letter at the size of the labels, on the broad side. */
const letterWidth = 6.4;
/** A screen has no more columns than this; every so many points one is drawn. */
const pointsMax = 1_500;
/** Of a line that has more: so many places of the row are labelled, evenly apart, with its first and its last. */
const labelledPlaces = 5;
/** Of bars that each have their label; of more, the first and the last have one. */
const labelledBarsMax = 40;
const colours = 4;

const paper = [
  "text{font-family:Inter;font-size:11px;fill:#444444}",
  ".grid{stroke:#d0d5dc}.zero{stroke:#8a919b}path{fill:none;stroke-width:1.6;stroke-linecap:round}",
  ".s0{stroke:#1f5fa8}.s1{stroke:#b0521a}.s2{stroke:#2b7a4b}.s3{stroke:#7a3f9d}",
  ".t0{fill:#1f5fa8}.t1{fill:#b0521a}.t2{fill:#2b7a4b}.t3{fill:#7a3f9d}",
].join("");

interface Frame {
  readonly marks: readonly number[];
  readonly low: number;
  readonly high: number;
  readonly height: number;
  readonly x: (index: number) => number;
  readonly y: (value: number) => number;
  readonly legend: string;
  /** Lines of labels below the plot. */
  readonly labelLines: number;
}

/** Empty for a chart without a single value. */
export function chartSvg(chart: Chart): string {
  const values = valuesOf(chart);
  if (values.length === 0) return "";
  const [frame, shown] = [frameOf(chart, values), shownBy(chart)];
  const label = `${chart.title}: from ${shown(first(chart))} to ${shown(last(chart))}, between ${shown(least(values))} and ${shown(most(values))}`;
  return [
    `<svg viewBox="0 0 ${width} ${frame.height}" role="img" aria-label="${escaped(label)}">`,
    ...gridOf(chart, frame),
    ...labelsOf(chart, frame),
    ...(chart.form === "bar" ? barsOf(chart, frame) : linesOf(chart, frame)),
    frame.legend,
    "</svg>",
  ].join("");
}

/** With its colours and its type face, for a page that is no web page. */
export function standaloneSvg(chart: Chart): string {
  return chartSvg(chart)
    .replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ')
    .replace(">", `><style>${paper}</style>`);
}

const valuesOf = (chart: Chart): readonly number[] =>
  chart.series.flatMap((series) => series.values).filter((value) => value !== null);
const known = (chart: Chart): readonly number[] => (chart.series[0]?.values ?? []).filter((value) => value !== null);
const first = (chart: Chart): number => known(chart)[0] ?? 0;
const last = (chart: Chart): number => known(chart).at(-1) ?? 0;
const least = (values: readonly number[]): number => values.reduce((one, other) => Math.min(one, other), Infinity);
const most = (values: readonly number[]): number => values.reduce((one, other) => Math.max(one, other), -Infinity);

function shownBy({ unit }: Chart): (value: number) => string {
  if (unit === "fraction") return percent;
  return (value) => (unit === "money" ? shownMoney(value.toFixed(2)) : value.toFixed(2));
}

function frameOf(chart: Chart, values: readonly number[]): Frame {
  const marks = ticks(...bounds(chart, values));
  const [low = 0, high = 0] = [marks[0], marks.at(-1)];
  const { legend, lines } = legendOf(chart);
  const top = margin.top + lines * lineHeight;
  const count = chart.labels.length;
  const inner = width - margin.left - margin.right;
  const labelLines = chart.form === "bar" ? barLabelLines(chart, inner / Math.max(1, count)) : 1;
  const bottom = margin.bottom + (labelLines - 1) * lineHeight;
  const whole = height + (labelLines - 1) * lineHeight;
  const x =
    chart.form === "bar"
      ? (index: number) => margin.left + ((index + 0.5) / count) * inner
      : (index: number) => margin.left + (count < 2 ? 0.5 : index / (count - 1)) * inner;
  const y = (value: number): number => top + ((high - value) / (high - low)) * (whole - top - bottom);
  return { marks, low, high, height: whole, x, y, legend, labelLines };
}

/** One name after the other, in as many lines as they need. */
function legendOf({ series }: Chart): { readonly legend: string; readonly lines: number } {
  if (series.length < 2) return { legend: "", lines: 0 };
  let [x, line] = [margin.left, 0];
  const parts = series.map(({ name }, index) => {
    const wide = name.length * letterWidth + 18;
    if (x > margin.left && x + wide > width - margin.right) [x, line] = [margin.left, line + 1];
    const text = `<text class="t${index % colours}" x="${round(x)}" y="${margin.top + 2 + line * lineHeight}">${escaped(name)}</text>`;
    x += wide;
    return text;
  });
  return { legend: parts.join(""), lines: line + 1 };
}

function gridOf(chart: Chart, { marks, low, high, y }: Frame): readonly string[] {
  return marks.map((value) => {
    const at = round(y(value));
    const kind = value === 0 && low < 0 ? "grid zero" : "grid";
    return `<line class="${kind}" x1="${margin.left}" x2="${width - margin.right}" y1="${at}" y2="${at}"/><text x="${margin.left - 6}" y="${round(at + 4)}" text-anchor="end">${escaped(tickText(value, high - low, chart.unit))}</text>`;
  });
}

/** Neighbours that would run into each other stand in different lines. */
function barLabelLines({ labels }: Chart, slot: number): number {
  if (labels.length > labelledBarsMax) return 1;
  const longest = labels.reduce((found, label) => Math.max(found, label.length), 0);
  return Math.max(1, Math.min(5, Math.ceil((longest * letterWidth) / slot)));
}

function labelsOf({ form, labels }: Chart, { x, height: whole, labelLines }: Frame): readonly string[] {
  if (form === "bar" && labels.length <= labelledBarsMax) {
    const top = whole - 8 - (labelLines - 1) * lineHeight;
    return labels.map((label, index) => {
      const half = (label.length * letterWidth) / 2;
      const at = Math.min(Math.max(x(index), half), width - half);
      return `<text x="${round(at)}" y="${top + (index % labelLines) * lineHeight}" text-anchor="middle">${escaped(label)}</text>`;
    });
  }
  return labelledAt(labels.length).map((index) => {
    const label = labels[index] ?? "";
    const half = (label.length * letterWidth) / 2;
    const at = Math.min(Math.max(x(index), half), width - half);
    return `<text x="${round(at)}" y="${whole - 8}" text-anchor="middle">${escaped(label)}</text>`;
  });
}

function labelledAt(count: number): readonly number[] {
  const places = Math.min(count, labelledPlaces);
  return Array.from({ length: places }, (_, place) => Math.round((place * (count - 1)) / Math.max(1, places - 1)));
}

const linesOf = ({ series }: Chart, { x, y }: Frame): readonly string[] =>
  series.flatMap(({ values }, index) => [
    `<path class="s${index % colours}" d="${path(values, x, y)}"/>`,
    // A value without neighbours is no line: it would not be seen.
    ...values.flatMap((value, at) =>
      value === null || (values[at - 1] ?? null) !== null || (values[at + 1] ?? null) !== null
        ? []
        : [`<circle class="t${index % colours}" cx="${round(x(at))}" cy="${round(y(value))}" r="3"/>`],
    ),
  ]);

/** Side by side where there are several of a label; each from zero. */
function barsOf({ labels, series }: Chart, { x, y }: Frame): readonly string[] {
  const slot = (width - margin.left - margin.right) / Math.max(1, labels.length);
  const wide = (slot * 0.8) / series.length;
  return series.flatMap(({ values }, index) =>
    values.flatMap((value, at) => {
      if (value === null) return [];
      const [from, to] = [y(Math.max(0, value)), y(Math.min(0, value))];
      const left = x(at) - slot * 0.4 + index * wide;
      return `<rect class="t${index % colours}" x="${round(left)}" y="${round(from)}" width="${round(Math.max(wide, 0.5))}" height="${round(Math.max(to - from, 0.5))}"/>`;
    }),
  );
}

/**
 * Bars stand on zero. So do lines, but for levels that move little against their height: from zero they would be flat. A row that never moves still
 * has a height.
 */
function bounds({ form }: Chart, values: readonly number[]): readonly [number, number] {
  const [lowest, highest] = [least(values), most(values)];
  if (form === "line" && lowest > 0 && highest > lowest && highest - lowest < lowest / 4) return [lowest, highest];
  const [low, high] = [Math.min(0, lowest), Math.max(0, highest)];
  return low === high ? [low - 0.01, high + 0.01] : [low, high];
}

/** Round numbers that hold all values between them: steps of 1, 2 or 5 times a power of ten. */
function ticks(low: number, high: number): readonly number[] {
  const rough = (high - low) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10);
  const [from, to] = [Math.floor(low / step), Math.ceil(high / step)];
  return Array.from({ length: to - from + 1 }, (_, index) => (from + index) * step);
}

/** With as many digits as tell two neighbours apart. */
function tickText(value: number, span: number, unit: Chart["unit"]): string {
  const scaled = unit === "fraction" ? 100 : 1;
  const digits = Math.min(6, Math.max(0, 1 - Math.floor(Math.log10(span * scaled))));
  const text = (value * scaled).toFixed(digits);
  if (unit === "fraction") return `${text} %`;
  return unit === "money" ? shownMoney(text) : text;
}

function path(row: readonly (number | null)[], x: (index: number) => number, y: (value: number) => number): string {
  const every = Math.max(1, Math.ceil(row.length / pointsMax));
  let begun = false;
  const parts: string[] = [];
  for (const [index, value] of row.entries()) {
    if (value === null) {
      begun = false;
      continue;
    }
    if (begun && index % every !== 0 && index !== row.length - 1) continue;
    parts.push(`${begun ? "L" : "M"}${round(x(index))} ${round(y(value))}`);
    begun = true;
  }
  return parts.join("");
}

const round = (value: number): number => Math.round(value * 100) / 100;

// A chart as one piece of SVG: no script, no style from outside, no id that another render would number differently. Colours are the page's own
// variables, so that it follows light and dark.
import type { Chart } from "../document.ts";
import { escaped } from "./escape.ts";
import { percent, shownMoney } from "./numbers.ts";

const width = 760;
const height = 240;
const margin = { left: 72, right: 12, top: 12, bottom: 28 };
/** Of the names above the plot, where there is more than one line. */
const legendHeight = 16;
/** A screen has no more columns than this; every so many points one is drawn. */
const pointsMax = 1_500;

export function chartSvg(chart: Chart): string {
  const values = chart.series.flatMap((series) => series.values).filter((value) => value !== null);
  if (values.length === 0) return "";
  const marks = ticks(...bounds(values));
  const [low = 0, high = 0] = [marks[0], marks.at(-1)];
  const top = margin.top + (chart.series.length < 2 ? 0 : legendHeight);
  const count = chart.labels.length;
  const x = (index: number): number =>
    margin.left + (count < 2 ? 0.5 : index / (count - 1)) * (width - margin.left - margin.right);
  const y = (value: number): number => top + ((high - value) / (high - low)) * (height - top - margin.bottom);
  const shown = (value: number): string => (chart.unit === "fraction" ? percent(value) : plain(value, chart.unit));
  const grid = marks.map((value) => {
    const at = round(y(value));
    return `<line class="grid" x1="${margin.left}" x2="${width - margin.right}" y1="${at}" y2="${at}"/><text x="${margin.left - 6}" y="${round(at + 4)}" text-anchor="end">${escaped(tickText(value, high - low, chart.unit))}</text>`;
  });
  const lines = chart.series.map(({ values: row }, index) => `<path class="s${index % 4}" d="${path(row, x, y)}"/>`);
  const legend =
    chart.series.length < 2
      ? ""
      : chart.series
          .map(
            ({ name }, index) =>
              `<text class="t${index % 4}" x="${margin.left + index * 120}" y="${margin.top + 2}">${escaped(name)}</text>`,
          )
          .join("");
  const label = `${chart.title}: from ${shown(first(chart))} to ${shown(last(chart))}, between ${shown(Math.min(...values))} and ${shown(Math.max(...values))}`;
  return [
    `<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(label)}">`,
    ...grid,
    `<text x="${margin.left}" y="${height - 8}">${escaped(chart.labels[0] ?? "")}</text>`,
    `<text x="${width - margin.right}" y="${height - 8}" text-anchor="end">${escaped(chart.labels.at(-1) ?? "")}</text>`,
    ...lines,
    legend,
    "</svg>",
  ].join("");
}

const known = (chart: Chart): readonly number[] => (chart.series[0]?.values ?? []).filter((value) => value !== null);
const first = (chart: Chart): number => known(chart)[0] ?? 0;
const last = (chart: Chart): number => known(chart).at(-1) ?? 0;

const plain = (value: number, unit: Chart["unit"]): string =>
  unit === "money" ? shownMoney(value.toFixed(2)) : value.toFixed(2);

/** A row that never moves still has a height. */
function bounds(values: readonly number[]): readonly [number, number] {
  const low = values.reduce((least, value) => Math.min(least, value), 0);
  const high = values.reduce((most, value) => Math.max(most, value), 0);
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
  // One point alone is drawn as a dot.
  return parts.length === 1 ? `${parts[0]}h0.01` : parts.join("");
}

const round = (value: number): number => Math.round(value * 100) / 100;

// Figures as people read them: thousands apart, as many places as their kind has. Money is cut from its exact text, never through a binary number.
import * as decimal from "../../contracts/src/decimal.ts";
import { type Cell, type Metric, metricReasons, type Table } from "../document.ts";

type Kind = Table["columns"][number]["kind"];

const none = "–";

/** The cells of a column with as many places as its largest has need of, so that they can be read one below the other. */
export function shownColumn(cells: readonly Cell[], kind: Kind): readonly string[] {
  if (kind === "text" || kind === "date") return cells.map((cell) => (cell === null ? none : shownText(String(cell))));
  if (kind === "money") return cells.map((cell) => (cell === null ? none : shownMoney(String(cell))));
  if (kind === "price" || kind === "quantity")
    return cells.map((cell) =>
      cell === null ? none : grouped(kind === "price" ? toCents(String(cell)) : String(cell)),
    );
  const scale = kind === "fraction" ? 100 : 1;
  const values = cells.map((cell) => (cell === null ? null : Number(cell) * scale));
  const known = values.filter((value) => value !== null);
  const largest = known.reduce((found, value) => Math.max(found, Math.abs(value)), 0);
  const isWhole = kind === "count" || (kind === "number" && known.every(Number.isInteger));
  const small = kind === "fraction" ? 1 : 2;
  const digits = largest === 0 ? 2 : Math.min(6, Math.max(2, small - Math.floor(Math.log10(largest))));
  return values.map((value) => {
    if (value === null) return none;
    if (kind === "fraction") return `${placed(value, digits)} %`;
    // A count among figures stays one.
    if (isWhole || (Number.isInteger(value) && value !== 0)) return grouped(String(value));
    return placed(value, digits, "significant");
  });
}

/** A moment to the second, in UTC as its report says; any other text as it stands. */
const shownText = (text: string): string => text.replace(moment, "$1 $2");
const moment = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}:\d{2})(?:\.\d+)?Z$/;

export const shownMoment = (instant: string): string => `${shownText(instant)} UTC`;

/** With what a figure of a row was made of; the interval stands with the figure. */
export function metricNotes({
  reason,
  n,
  periods_per_year: perYear,
  rf_annual: riskless,
  cut_off: until,
}: Metric): string {
  const given = [
    `n = ${grouped(String(n))}`,
    ...(perYear === null ? [] : [`${perYear} periods a year`]),
    ...(riskless === null ? [] : [`rf ${percent(riskless)}`]),
    ...(until === null ? [] : [`to ${until}`]),
  ].join(", ");
  return reason === null ? given : `${metricReasons[reason]} ${given}`;
}

/** With the interval that it has. */
export function shownFigure(metric: Metric, currency: string): string {
  const { interval, unit, value } = metric;
  const shown = shownMetric(metric);
  if (interval !== undefined) return `${shown} (95 %: ${interval.map(fixed).join(" to ")})`;
  return unit === "money" && value !== null ? `${shown} ${currency}` : shown;
}

export function shownMetric({ value, unit }: Metric): string {
  if (value === null) return none;
  if (unit === "money") return shownMoney(String(value));
  const number = Number(value);
  if (unit === "fraction" || unit === "per_year") return percent(number);
  if (unit === "seconds") return shownSeconds(number);
  if (unit === "days")
    return `${Number.isInteger(number) ? grouped(String(number)) : fixed(number)} ${number === 1 ? "day" : "days"}`;
  return unit === "count" ? grouped(String(number)) : fixed(number);
}

/** In the two largest units that it has. */
export function shownSeconds(seconds: number): string {
  const units = [
    ["d", 86_400],
    ["h", 3_600],
    ["min", 60],
  ] as const;
  const largest = units.findIndex(([, each]) => Math.abs(seconds) >= each);
  if (largest === -1) return `${fixed(seconds)} s`;
  const [[name, size], [smaller, smallerSize]] = [units[largest] ?? units[0], units[largest + 1] ?? ["s", 1]];
  const whole = Math.trunc(seconds / size);
  return `${whole} ${name} ${Math.floor(Math.abs(seconds - whole * size) / smallerSize)} ${smaller}`;
}

/** To the cent; a smaller part than that is shown, because it may be a difference. */
export function shownMoney(text: string): string {
  const value = decimal.tryParse(text);
  if (value === undefined) return text;
  const rounded = decimal.formatFixed(value, 2, "half-even");
  return Number(rounded) === 0 && value !== decimal.zero ? text : grouped(rounded);
}

/** To the hundredth; small ones as the rates of a day to the thousandth. */
export const percent = (value: number): string => {
  const hundredths = value * 100;
  return `${placed(hundredths, Math.abs(hundredths) < 0.1 && hundredths !== 0 ? 3 : 2, "significant")} %`;
};

const fixed = (value: number): string => placed(value, Math.abs(value) < 10 ? 3 : 2, "significant");

/** Where "significant" is asked for: two digits of what the places would show as zero, unless it is too small to mean anything. */
function placed(value: number, digits: number, small?: "significant"): string {
  const size = Math.abs(value);
  const isLost = small !== undefined && size < 0.5 * 10 ** -digits && size >= 1e-6;
  const text = isLost ? value.toPrecision(2) : value.toFixed(digits);
  return grouped(Number(text) === 0 ? text.replace("-", "") : text);
}

/** With all the places that it has, and two at least. */
function toCents(text: string): string {
  const [whole = "", fraction = ""] = text.split(".");
  return `${whole}.${fraction.padEnd(2, "0")}`;
}

function grouped(text: string): string {
  const [whole = "", fraction] = text.split(".");
  const apart = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return fraction === undefined ? apart : `${apart}.${fraction}`;
}

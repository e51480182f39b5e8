// Figures as people read them: thousands apart, as many places as their kind has. Money is cut from its exact text, never through a binary number.
import * as decimal from "../../contracts/src/decimal.ts";
import type { Cell, Metric, Table } from "../document.ts";

type Kind = Table["columns"][number]["kind"];

const none = "–";

export function shownCell(cell: Cell, kind: Kind): string {
  if (cell === null) return none;
  if (kind === "text" || kind === "date") return String(cell);
  if (kind === "money") return shownMoney(String(cell));
  if (kind === "price" || kind === "quantity") return grouped(String(cell));
  const value = Number(cell);
  if (kind === "fraction") return percent(value);
  return kind === "count" || Number.isInteger(value) ? grouped(String(value)) : fixed(value);
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

export const percent = (value: number): string => `${fixed(value * 100)} %`;

/** Two digits of what three places would show as zero, unless it is too small to mean anything. */
const fixed = (value: number): string => {
  const size = Math.abs(value);
  const text = size < 0.0005 && size >= 1e-6 ? value.toPrecision(2) : value.toFixed(size < 10 ? 3 : 2);
  return grouped(Number(text) === 0 ? text.replace("-", "") : text);
};

function grouped(text: string): string {
  const [whole = "", fraction] = text.split(".");
  const apart = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return fraction === undefined ? apart : `${apart}.${fraction}`;
}

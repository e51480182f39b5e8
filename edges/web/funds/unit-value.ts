// What a fund's values over time say, flows left out: the value of a unit (a deposit is no profit), how far below its peak it stands, and what a period made in
// money, exactly. Units and drawdowns are statistics; money is never binary floating point.
import * as decimal from "../../../contracts/src/decimal.ts";

interface Valued {
  readonly nav: string;
  readonly net_flows: string;
  readonly as_of: string;
}

export interface UnitValue {
  readonly as_of: string;
  readonly nav: string;
  /** 100 at the first of them. */
  readonly unit: number;
  /** 0 at the peak, -0.05 when 5 % below it. */
  readonly drawdown: number;
}

/** What flowed in between two values was there for none of the return between them. */
export function unitValues(values: readonly Valued[]): readonly UnitValue[] {
  const found: UnitValue[] = [];
  let unit = 100;
  let peak = 100;
  let before: Valued | undefined;
  for (const value of values) {
    const base = before === undefined ? 0 : Number(before.nav);
    const flow = before === undefined ? 0 : Number(value.net_flows) - Number(before.net_flows);
    if (base > 0) unit *= (Number(value.nav) - flow) / base;
    peak = Math.max(peak, unit);
    found.push({ as_of: value.as_of, nav: value.nav, unit, drawdown: unit / peak - 1 });
    before = value;
  }
  return found;
}

/** In money since a moment: the value now less the last one before it, less what flowed in since. Undefined when nothing is known from before it. */
export function profitSince(values: readonly Valued[], from: string): string | undefined {
  const first = values.findLast(({ as_of }) => as_of < from) ?? values[0];
  const last = values.at(-1);
  if (first === undefined || last === undefined || first === last) return undefined;
  const made = decimal.subtract(decimal.parse(last.nav), decimal.parse(first.nav));
  const flowed = decimal.subtract(decimal.parse(last.net_flows), decimal.parse(first.net_flows));
  return decimal.format(decimal.subtract(made, flowed));
}

/** The first moment of the month or the year, in UTC. */
export function periodStart(period: "month" | "year", now: string): string {
  return `${period === "month" ? now.slice(0, 7) : `${now.slice(0, 4)}-01`}-01T00:00:00Z`;
}

/** Fine enough to see, coarse enough to send. */
export function stepFor(fromMs: number, nowMs: number): "minute" | "hour" | "day" {
  const hours = (nowMs - fromMs) / 3_600_000;
  return hours <= 26 ? "minute" : hours <= 72 ? "hour" : "day";
}

// What a moment of the past must say, counted without the platform: positions as sums over what the journal had recorded by then, and every time in an answer
// held against the time that was asked for.
import type pg from "pg";
import * as decimal from "../../contracts/src/decimal.ts";

interface RecordedFill {
  readonly atUs: number;
  readonly fundId: string;
  readonly strategyId: string;
  readonly symbol: string;
  /** With its sign. */
  readonly change: decimal.Decimal;
}

/** Microseconds since 1970 of a time with six digits behind the second. */
export const microsecondsOf = (text: string): number =>
  Date.parse(`${text.slice(0, 23)}Z`) * 1_000 + Number(text.slice(23, 26));

/** Every trade, what was taken back, and what a corporate action gave or took. */
export async function recordedFills(owner: pg.Pool): Promise<readonly RecordedFill[]> {
  const found = await owner.query(
    "select at_us, convert_from(payload, 'UTF8') as text from portcullis.risk_journal where kind = 2 order by id",
  );
  return found.rows.map(({ at_us, text }) => {
    const fill = JSON.parse(text) as Record<string, string>;
    const isOut = (fill["side"] ?? "").startsWith("SELL") !== (fill["kind"] === "REVERSAL");
    const quantity = decimal.parse(fill["quantity"] ?? "");
    return {
      atUs: Number(at_us),
      fundId: fill["fund_id"] ?? "",
      strategyId: fill["strategy_id"] ?? "",
      symbol: fill["symbol"] ?? "",
      change: isOut ? decimal.negate(quantity) : quantity,
    };
  });
}

/** `strategy symbol quantity`, in order. */
export function positionsAt(fills: readonly RecordedFill[], fundId: string, atUs: number): readonly string[] {
  const sums = new Map<string, decimal.Decimal>();
  for (const one of fills) {
    if (one.fundId !== fundId || one.atUs > atUs) continue;
    const key = `${one.strategyId} ${one.symbol}`;
    sums.set(key, decimal.add(sums.get(key) ?? decimal.zero, one.change));
  }
  return [...sums]
    .filter(([, quantity]) => quantity !== decimal.zero)
    .map(([key, quantity]) => `${key} ${decimal.format(quantity)}`)
    .sort();
}

/** They tell until when something is good, which is known before. */
const aheadByNature = /(until|expires_at|expiry|lapses_at|ends_at|due_at|next_at|deadline)/;

/** Where an answer names a time after that one. */
export function laterThan(answer: unknown, atUs: number, path = ""): readonly string[] {
  if (typeof answer === "string") {
    const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/.test(answer);
    return isTime && !aheadByNature.test(path) && microsecondsOf(answer) > atUs ? [`${path} ${answer}`] : [];
  }
  if (typeof answer !== "object" || answer === null) return [];
  return Object.entries(answer).flatMap(([name, value]) => laterThan(value, atUs, `${path}.${name}`));
}

export function momentText(us: number): string {
  const ms = Math.floor(us / 1_000);
  return `${new Date(ms).toISOString().slice(0, -1)}${String(us - ms * 1_000).padStart(3, "0")}Z`;
}

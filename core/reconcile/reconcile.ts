// Our positions against the broker's: where they differ, why, and what a look makes of what earlier looks saw. Nothing here asks anybody; an
// account whose answer was missing or incomplete never comes here at all.
//
// Invariants (reconcile.test.ts names them):
//  1. The union of both sides is compared: what only one of them has is compared with zero.
//  2. A first look says SUSPECTED and never more; only a later answer of the broker says more, and only one that is late enough confirms or lets
//     ours be corrected, however often somebody looks in between.
//  3. A later answer with the same difference confirms, one without a difference clears, one with another difference does neither.
//  4. What is neither confirmed nor cleared after `looksMax` looks is stuck, and said so once.
//  5. A confirmed difference stays confirmed until both sides are equal; when it becomes another one, that is news.
//  6. Only two complete answers that agree with each other, with our side unmoved, are evidence enough to correct ours.
//  7. A class is given only when the evidence explains the whole difference; else it is UNKNOWN.
import type { Decimal } from "../../contracts/src/decimal.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import { format, type Instant, millisecondsBetween } from "../../contracts/src/instant.ts";
import type { ReconcileDifference } from "../../contracts/src/records/operations.ts";

type DifferenceClass = ReconcileDifference["class"];
type Holdings = ReadonlyMap<string, Decimal>;

export interface Mismatch {
  readonly symbol: string;
  readonly ours: Decimal;
  readonly brokers: Decimal;
}

/** By symbol; only what differs. */
export function compareHoldings(ours: Holdings, brokers: Holdings): readonly Mismatch[] {
  const symbols = [...new Set([...ours.keys(), ...brokers.keys()])].sort();
  return symbols
    .map((symbol) => ({
      symbol,
      ours: ours.get(symbol) ?? decimal.zero,
      brokers: brokers.get(symbol) ?? decimal.zero,
    }))
    .filter(({ ours: left, brokers: right }) => left !== right);
}

/** An order of which the broker says something else than our books. */
export interface OrderGap {
  readonly orderId: string;
  /** Whose order it is: one that we hold as open or filled, one that we hold as ended without that trade, or nobody's. */
  readonly known: "open" | "ended" | "nobody";
  readonly strategyId?: string;
  /** What the broker traded of it beyond what we have booked; negative when it sold. */
  readonly gap: Decimal;
  readonly price?: Decimal;
}

/** A trade that we have booked from the broker's own reports. */
export interface BookedTrade {
  readonly orderId: string;
  /** Negative when it sold. */
  readonly quantity: Decimal;
  readonly at: Instant;
}

export interface Evidence {
  readonly gaps: readonly OrderGap[];
  /** Newest first. */
  readonly booked: readonly BookedTrade[];
  /** Whether every order since the books last agreed was looked at. */
  readonly isWhole: boolean;
}

interface Classified {
  readonly class: DifferenceClass;
  readonly evidence: string;
}

const shown = (value: Decimal): string => decimal.format(value);
const namesMax = 5;

export function classify({ symbol, ours, brokers }: Mismatch, evidence: Evidence): Classified {
  const difference = decimal.subtract(brokers, ours);
  const has = `We have ${shown(ours)} ${symbol}, the broker has ${shown(brokers)}`;
  const gaps = evidence.gaps.filter(({ gap }) => gap !== 0n);
  const explained = gaps.reduce((sum, { gap }) => decimal.add(sum, gap), decimal.zero);
  if (gaps.length > 0 && explained === difference) {
    const names = `${gaps
      .slice(0, namesMax)
      .map(({ orderId, gap }) => `${orderId} (${shown(gap)})`)
      .join(", ")}${gaps.length > namesMax ? ` and ${gaps.length - namesMax} more` : ""}`;
    if (gaps.some(({ known }) => known === "nobody"))
      return {
        class: "OFF_SYSTEM_TRADE",
        evidence: `${has}: it traded ${names}, of which some is no order of ours.`,
      };
    if (gaps.some(({ known }) => known === "ended"))
      return { class: "CANCELLATION_RACE", evidence: `${has}: it traded ${names}, which we hold as ended.` };
    return { class: "LOST_FILL", evidence: `${has}: it traded ${names}, which we have not booked.` };
  }
  if (gaps.length > 0) {
    const part = `orders explain ${shown(explained)} of ${shown(difference)}`;
    return { class: "UNKNOWN", evidence: `${has}: ${part}.` };
  }
  const behind = tradesBehind(evidence.booked, decimal.negate(difference));
  if (behind !== undefined) {
    const since = format(behind.at);
    return {
      class: "BROKER_LAG",
      evidence: `${has}: that is what it was before our newest trades, from ${behind.orderId} at ${since} on.`,
    };
  }
  if (evidence.isWhole)
    return {
      class: "OFF_SYSTEM_TRADE",
      evidence: `${has}: every order of ours agrees since the books last did, so somebody traded outside of them.`,
    };
  return { class: "UNKNOWN", evidence: `${has}: no order of ours that we could read explains it.` };
}

/** The oldest of the newest trades that together make up what the broker does not show yet. */
function tradesBehind(booked: readonly BookedTrade[], missing: Decimal): BookedTrade | undefined {
  let sum = decimal.zero;
  for (const trade of booked) {
    sum = decimal.add(sum, trade.quantity);
    if (sum === missing) return trade;
  }
  return undefined;
}

/** What earlier looks left behind. */
export interface KnownDifference {
  readonly status: "SUSPECTED" | "CONFIRMED";
  readonly looks: number;
  /** As the last look saw them. */
  readonly ours: Decimal;
  readonly brokers: Decimal;
  readonly brokerAsOf: Instant;
  /** An adjustment was handed in for it. */
  readonly isAdjusting: boolean;
}

/** One complete answer of the broker beside our own books. */
interface Look {
  readonly ours: Decimal;
  readonly brokers: Decimal;
  readonly brokerAsOf: Instant;
}

export const looksMax = 5;

export type LookVerdict =
  | { readonly verdict: "nothing" }
  | { readonly verdict: "suspect" | "clear" | "corrected" }
  /** `mayCorrect` when ours may be set to the broker's. */
  | { readonly verdict: "confirm"; readonly mayCorrect: boolean }
  /** It is confirmed, and another difference than it was. */
  | { readonly verdict: "change" }
  /** `isStuck` is true at the look that makes it so. */
  | { readonly verdict: "stay"; readonly isStuck: boolean; readonly mayCorrect: boolean }
  /** The same as before, and too soon to count: what was remembered of the look before stays. */
  | { readonly verdict: "early" };

/** `apartMs`: how much later the broker's second answer has to be. */
export function judgeLook(known: KnownDifference | undefined, look: Look, apartMs = 0): LookVerdict {
  const isEqual = look.ours === look.brokers;
  if (known === undefined) return { verdict: isEqual ? "nothing" : "suspect" };
  const isNewer = look.brokerAsOf > known.brokerAsOf;
  if (!isNewer) return { verdict: "stay", isStuck: isStuckNow(known), mayCorrect: false };
  if (isEqual) return { verdict: known.isAdjusting ? "corrected" : "clear" };
  const isSame = decimal.subtract(look.brokers, look.ours) === decimal.subtract(known.brokers, known.ours);
  const mayCorrect = look.brokers === known.brokers && look.ours === known.ours;
  const isEarly = millisecondsBetween(known.brokerAsOf, look.brokerAsOf) < apartMs;
  if (isEarly && (known.status === "CONFIRMED" ? mayCorrect : isSame)) return { verdict: "early" };
  if (known.status === "CONFIRMED") {
    return isSame ? { verdict: "stay", isStuck: false, mayCorrect } : { verdict: "change" };
  }
  return isSame
    ? { verdict: "confirm", mayCorrect }
    : { verdict: "stay", isStuck: isStuckNow(known), mayCorrect: false };
}

function isStuckNow({ status, looks }: KnownDifference): boolean {
  return status === "SUSPECTED" && looks + 1 === looksMax;
}

/** What a strategy holds of a symbol, for the question whose position is set right. */
export interface StrategyHolding {
  readonly strategyId: string;
  readonly quantity: Decimal;
  readonly averagePrice: Decimal;
}

interface Adjustment {
  readonly strategyId: string;
  readonly from: Decimal;
  readonly to: Decimal;
  readonly price: Decimal;
}

/**
 * Sets one strategy's position so that the fund's sum is the broker's. Whose order the evidence names, else who holds most of the symbol, else
 * the fund's first strategy. The price is the one it traded at where that is known, else the broker's average, else our own.
 */
export function adjustmentFor(
  { ours, brokers }: Mismatch,
  holdings: readonly StrategyHolding[],
  gaps: readonly OrderGap[],
  fallback: { readonly strategyId: string; readonly brokerPrice: Decimal },
): Adjustment | undefined {
  const named = [...new Set(gaps.flatMap(({ strategyId }) => (strategyId === undefined ? [] : [strategyId])))];
  const largest = [...holdings].sort(
    (one, other) =>
      decimal.compare(decimal.abs(other.quantity), decimal.abs(one.quantity)) ||
      (one.strategyId < other.strategyId ? -1 : 1),
  )[0];
  const strategyId = (named.length === 1 ? named[0] : undefined) ?? largest?.strategyId ?? fallback.strategyId;
  const held = holdings.find((one) => one.strategyId === strategyId);
  const from = held?.quantity ?? decimal.zero;
  const prices = [...gaps.map(({ price }) => price), fallback.brokerPrice, held?.averagePrice];
  const price = prices.find((one) => one !== undefined && one > 0n);
  if (price === undefined || strategyId === "") return undefined;
  return { strategyId, from, to: decimal.add(from, decimal.subtract(brokers, ours)), price };
}

// The repeated-execution throttle: equal approvals of a strategy within the envelope's window are counted, and one more trips a latch that
// only an operator releases. Reductions are neither counted nor throttled, so that an exit in equal slices cannot lock a strategy.
//
// What is counted follows from the approvals alone and never from what the envelope says later, so that books which are rebuilt from the
// journal are the same. Memory is bounded: a strategy keeps at most `kindsMax` different orders (symbol, side, quantity); beyond, those that
// were approved longest ago are forgotten first.
import type { Instant } from "../../contracts/src/instant.ts";
import { type Amount, toDecimal } from "../money/amount.ts";
import { type AddedInstant, addInstant, countWithin, createInstantRing, removeInstant } from "../state/instant-ring.ts";
import type { Repeats, StrategyBook, SymbolBook } from "../state/records.ts";

const kindsMax = 4_096;
const sides: readonly string[] = ["BUY", "SELL", "SELL_SHORT", "BUY_TO_COVER"];

/** What must be known to take a counted approval back. */
export interface CountedApproval {
  readonly at: Instant;
  readonly kind: bigint;
  readonly added: AddedInstant;
  readonly windowBefore: number;
}

/** Symbol, side and quantity as one number. */
function kindOf(book: SymbolBook, side: string, quantity: Amount): bigint {
  return (toDecimal(quantity) << 32n) | BigInt(book.place * 4 + sides.indexOf(side));
}

export function repeatsWithin(
  strategy: StrategyBook,
  book: SymbolBook,
  side: string,
  quantity: Amount,
  at: Instant,
  windowMs: number,
): number {
  if (strategy.repeats.size === 0) return 0;
  const repeats = strategy.repeats.get(kindOf(book, side, quantity));
  if (repeats === undefined) return 0;
  return countWithin(repeats.ring, at, Math.min(windowMs * 1_000, repeats.windowMicroseconds));
}

interface Approval {
  readonly book: SymbolBook;
  readonly side: string;
  readonly quantity: Amount;
  readonly at: Instant;
  /** The envelope's at that moment. */
  readonly windowMs: number;
}

export function countApproval(strategy: StrategyBook, approval: Approval): CountedApproval {
  const { book, side, quantity, at } = approval;
  const kind = kindOf(book, side, quantity);
  const windowMicroseconds = approval.windowMs * 1_000;
  let repeats: Repeats | undefined = strategy.repeats.get(kind);
  if (repeats === undefined) {
    if (strategy.repeats.size >= kindsMax) forgetFirst(strategy);
    repeats = { symbol: book.symbol, side, quantity, windowMicroseconds, ring: createInstantRing() };
  } else strategy.repeats.delete(kind);
  // The map's own order is the order of the last approvals.
  strategy.repeats.set(kind, repeats);
  const windowBefore = repeats.windowMicroseconds;
  const added = addInstant(repeats.ring, at, windowBefore);
  repeats.windowMicroseconds = windowMicroseconds;
  return { at, kind, added, windowBefore };
}

export function uncountApproval(strategy: StrategyBook, counted: CountedApproval): void {
  const repeats = strategy.repeats.get(counted.kind);
  if (repeats === undefined) return;
  if (repeats.ring.version === counted.added.version) repeats.windowMicroseconds = counted.windowBefore;
  removeInstant(repeats.ring, counted.at, counted.added);
  if (repeats.ring.size === 0) strategy.repeats.delete(counted.kind);
}

function forgetFirst(strategy: StrategyBook): void {
  for (const kind of strategy.repeats.keys()) {
    strategy.repeats.delete(kind);
    return;
  }
}

/** An operator lets the strategy trade again; what was counted before does not count against it any more. */
export function release(strategy: StrategyBook): boolean {
  if (strategy.trippedAt === undefined) return false;
  strategy.trippedAt = undefined;
  strategy.repeats.clear();
  return true;
}

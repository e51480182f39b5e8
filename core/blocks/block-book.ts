// What an operator must accept before new risk passes, as the engine keeps it: blocks of a symbol in a fund, or of a whole fund.
//
// Invariants (block-book.test.ts holds them against a model):
//  1. A fund may take new risk in a symbol exactly when no block of that symbol in it, and none of the whole fund, is open.
//  2. Opening is idempotent: the same id again replaces what it says, and what has ended stays ended.
//  3. Ending is final and happens once; what is not open cannot end.
//  4. What is open is never dropped for want of room: above `symbolBlocksMax` in a fund the shell blocks the fund as a whole.
import type { DenialCode } from "../../contracts/src/codes.ts";
import { tryParse } from "../../contracts/src/instant.ts";
import type { BlockCause, RiskBlock, RiskBlockEnded } from "../../contracts/src/records/block.ts";
import type { StandingCondition } from "../state/standing-condition.ts";

/** Blocks of symbols that one fund may have open; more would only be read by nobody. */
export const symbolBlocksMax = 1_000;
/** Ends that are remembered, to tell whoever accepts a block a second time. */
const endedMax = 1_000;

/** By symbol, and "" for the whole fund; oldest first. */
type FundBlocks = Map<string, Map<string, RiskBlock>>;

export interface BlockBook {
  readonly open: Map<string, RiskBlock>;
  readonly byFund: Map<string, FundBlocks>;
  /** Oldest first. */
  readonly ended: Map<string, RiskBlockEnded>;
}

export interface BlocksSnapshot {
  readonly open: readonly RiskBlock[];
  readonly ended: readonly RiskBlockEnded[];
}

export function createBlockBook(): BlockBook {
  return { open: new Map(), byFund: new Map(), ended: new Map() };
}

export function openBlock(book: BlockBook, block: RiskBlock): void {
  if (book.ended.has(block.block_id)) return;
  const before = book.open.get(block.block_id);
  if (before !== undefined) leave(book, before);
  book.open.set(block.block_id, block);
  let ofFund = book.byFund.get(block.fund_id);
  if (ofFund === undefined) {
    ofFund = new Map();
    book.byFund.set(block.fund_id, ofFund);
  }
  const symbol = block.symbol ?? "";
  const inScope = ofFund.get(symbol) ?? new Map<string, RiskBlock>();
  inScope.set(block.block_id, block);
  ofFund.set(symbol, inScope);
}

/** Whether it was open. */
export function endBlock(book: BlockBook, ended: RiskBlockEnded): boolean {
  const block = book.open.get(ended.block_id);
  if (block === undefined) return false;
  leave(book, block);
  book.ended.set(ended.block_id, ended);
  const [oldest] = book.ended.keys();
  if (book.ended.size > endedMax && oldest !== undefined) book.ended.delete(oldest);
  return true;
}

function leave(book: BlockBook, { block_id: id, fund_id: fundId, symbol = "" }: RiskBlock): void {
  book.open.delete(id);
  const ofFund = book.byFund.get(fundId);
  const inScope = ofFund?.get(symbol);
  inScope?.delete(id);
  if (inScope?.size === 0) ofFund?.delete(symbol);
  if (ofFund?.size === 0) book.byFund.delete(fundId);
}

/** What a cause is as a condition; several are the one of fills that are not accepted. */
const codeOfCause: Readonly<Record<BlockCause, DenialCode>> = {
  FILL_OUTSIDE_COLLAR: "FILL_NOT_ACCEPTED",
  ORDER_OVERFILLED: "FILL_NOT_ACCEPTED",
  FILL_NOT_JUDGED: "FILL_NOT_ACCEPTED",
  FILLS_UNCHECKED: "FILL_NOT_ACCEPTED",
  EVENT_GAP: "FILL_NOT_ACCEPTED",
  FILLS_HELD: "FILL_NOT_ACCEPTED",
  FILL_WITHOUT_ORDER: "ORDER_NOT_VOUCHED",
  FILL_FEE_ODD: "FEE_NOT_VOUCHED",
  FILL_DATE_ODD: "FILL_DATE_NOT_VOUCHED",
  CROSS_ONE_LEG: "CROSS_NOT_VOUCHED",
  FILL_KIND_UNVOUCHED: "FILL_KIND_NOT_VOUCHED",
  VALUE_UNEXPLAINED: "VALUE_NOT_VOUCHED",
};

/** A fill that somebody else could vouch for takes an operator; what only a person says takes the second factor too. */
const acceptedByOperator: ReadonlySet<BlockCause> = new Set<BlockCause>([
  "FILL_OUTSIDE_COLLAR",
  "ORDER_OVERFILLED",
  "FILL_NOT_JUDGED",
  "FILLS_UNCHECKED",
  "FILLS_HELD",
]);

export const needsSecondFactor = ({ cause }: Pick<RiskBlock, "cause">): boolean => !acceptedByOperator.has(cause);

/** As it denies new risk: of a fund as a whole, or of its symbol in it. */
export function conditionOfBlock(block: RiskBlock): StandingCondition {
  const { block_id: blockId, fund_id: fundId, symbol, reason, at } = block;
  return {
    code: codeOfCause[block.cause],
    fundId,
    symbol,
    reason,
    facts: [["block_id", blockId]],
    since: tryParse(at),
  };
}

/** Of a fund, oldest first. */
export function blocksOf({ open }: BlockBook, fundId: string): readonly RiskBlock[] {
  return [...open.values()].filter((block) => block.fund_id === fundId);
}

/** Whether another block of a symbol finds room (invariant 4). */
export function hasRoom({ byFund }: BlockBook, fundId: string): boolean {
  let count = 0;
  for (const [symbol, blocks] of byFund.get(fundId) ?? []) if (symbol !== "") count += blocks.size;
  return count < symbolBlocksMax;
}

export function blocksSnapshot({ open, ended }: BlockBook): BlocksSnapshot {
  return { open: [...open.values()], ended: [...ended.values()] };
}

export function restoreBlocks(book: BlockBook, { open, ended }: BlocksSnapshot): void {
  for (const block of open) openBlock(book, block);
  for (const end of ended) book.ended.set(end.block_id, end);
}

// What the shell does with blocks that an operator accepts: judge a fill, open, settle by a price, end.
import type { Instant } from "../../contracts/src/instant.ts";
import type { RiskBlock, RiskBlockEnded } from "../../contracts/src/records/block.ts";
import type { Fill } from "../../contracts/src/records/order.ts";
import {
  type BlocksSnapshot,
  blocksOf,
  conditionOfBlock,
  endBlock,
  hasRoom,
  openBlock,
  restoreBlocks,
} from "../blocks/block-book.ts";
import { setConditions } from "../blocks/condition-book.ts";
import { moveDoubt } from "../exposure/doubts.ts";
import type { EngineState } from "./state.ts";
import { judgePrice, type PricedFill, type PriceJudgement } from "./vouching/judge-fill.ts";
import { acceptValue } from "./vouching/judge-value.ts";
import { type FillStanding, type Unvouched, whyUnvouched } from "./vouching/vouch-fill.ts";

export interface Acceptance {
  judge(fill: PricedFill, now: Instant): PriceJudgement;
  /** Why nobody vouches for it, beside its price and its size. */
  unvouched(fill: Fill, standing: FillStanding, now: Instant): readonly Unvouched[];
  /** The same id again replaces what it says. */
  open(block: RiskBlock): void;
  /** Whether it was open. */
  end(ended: RiskBlockEnded): boolean;
  block(blockId: string): RiskBlock | undefined;
  ended(blockId: string): RiskBlockEnded | undefined;
  /** Of a fill, whatever its cause. */
  ofFill(fundId: string, fillId: string): readonly RiskBlock[];
  /** Whether another block of a symbol finds room in the fund. */
  hasRoom(fundId: string): boolean;
  /** Whether the whole fund is blocked because too many fills of it wait. */
  isFundBlocked(fundId: string): boolean;
  /** All of one cause, oldest first. */
  ofCause(cause: RiskBlock["cause"]): readonly RiskBlock[];
  /** Those that a price of the symbol may settle. */
  unjudged(symbol: string): readonly RiskBlock[];
}

export function acceptanceOf(state: EngineState): Acceptance {
  const { blockBook } = state;
  return {
    judge: (fill, now) => judgePrice(state, fill, now),
    unvouched: (fill, standing, now) => whyUnvouched(state, fill, standing, now),
    open: (block) => changed(state, block.block_id, () => openBlock(blockBook, block)),
    end(ended) {
      const { value, fund_id: fundId } = blockBook.open.get(ended.block_id) ?? {};
      const isOpen = changed(state, ended.block_id, () => endBlock(blockBook, ended));
      // What the engine ends by itself nobody has vouched for.
      if (isOpen && value !== undefined && fundId !== undefined && ended.ended_by !== "riskengine")
        acceptValue(state, fundId, value);
      return isOpen;
    },
    block: (blockId) => blockBook.open.get(blockId),
    ended: (blockId) => blockBook.ended.get(blockId),
    ofFill: (fundId, fillId) => blocksOf(blockBook, fundId).filter(({ fill }) => fill?.fill_id === fillId),
    hasRoom: (fundId) => hasRoom(blockBook, fundId),
    isFundBlocked: (fundId) =>
      [...(blockBook.byFund.get(fundId)?.get("")?.values() ?? [])].some(({ cause }) => cause === "FILLS_UNCHECKED"),
    ofCause: (cause) => [...blockBook.open.values()].filter((block) => block.cause === cause),
    unjudged(symbol) {
      if (blockBook.open.size === 0) return [];
      return [...blockBook.open.values()].filter(
        (block) => block.cause === "FILL_NOT_JUDGED" && block.symbol === symbol,
      );
    },
  };
}

/** A block that is open is a condition that stands, and what it is about may not have happened. */
function changed<Answer>(state: EngineState, blockId: string, change: () => Answer): Answer {
  const { blockBook, books } = state;
  const before = blockBook.open.get(blockId);
  if (before !== undefined) moveDoubt(books, before, -1);
  const answer = change();
  const after = blockBook.open.get(blockId);
  if (after !== undefined) moveDoubt(books, after, 1);
  standUp(state, blockId, after);
  return answer;
}

function standUp({ conditions, books }: EngineState, blockId: string, block: RiskBlock | undefined): void {
  setConditions(conditions, books, `block ${blockId}`, block === undefined ? [] : [conditionOfBlock(block)]);
}

export function restoreAcceptance(state: EngineState, snapshot: BlocksSnapshot): void {
  restoreBlocks(state.blockBook, snapshot);
  for (const [blockId, block] of state.blockBook.open) {
    moveDoubt(state.books, block, 1);
    standUp(state, blockId, block);
  }
}

// What the shell does with blocks that an operator accepts: judge a fill, open, settle by a price, end.
import type { Instant } from "../../contracts/src/instant.ts";
import type { RiskBlock, RiskBlockEnded } from "../../contracts/src/records/block.ts";
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
import { judgePrice, type PricedFill, type PriceJudgement } from "./judge-fill.ts";
import type { EngineState } from "./state.ts";

export interface Acceptance {
  judge(fill: PricedFill, now: Instant): PriceJudgement;
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
  /** Whether the whole fund is blocked. */
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
    open(block) {
      openBlock(blockBook, block);
      standUp(state, block.block_id);
    },
    end(ended) {
      const wasOpen = endBlock(blockBook, ended);
      standUp(state, ended.block_id);
      return wasOpen;
    },
    block: (blockId) => blockBook.open.get(blockId),
    ended: (blockId) => blockBook.ended.get(blockId),
    ofFill: (fundId, fillId) => blocksOf(blockBook, fundId).filter(({ fill }) => fill?.fill_id === fillId),
    hasRoom: (fundId) => hasRoom(blockBook, fundId),
    isFundBlocked: (fundId) => blockBook.byFund.get(fundId)?.has("") === true,
    ofCause: (cause) => [...blockBook.open.values()].filter((block) => block.cause === cause),
    unjudged(symbol) {
      if (blockBook.open.size === 0) return [];
      return [...blockBook.open.values()].filter(
        (block) => block.cause === "FILL_NOT_JUDGED" && block.symbol === symbol,
      );
    },
  };
}

/** A block that is open is a condition that stands. */
function standUp({ blockBook, conditions, books }: EngineState, blockId: string): void {
  const block = blockBook.open.get(blockId);
  setConditions(conditions, books, `block ${blockId}`, block === undefined ? [] : [conditionOfBlock(block)]);
}

export function restoreAcceptance(state: EngineState, snapshot: BlocksSnapshot): void {
  restoreBlocks(state.blockBook, snapshot);
  for (const blockId of state.blockBook.open.keys()) standUp(state, blockId);
}

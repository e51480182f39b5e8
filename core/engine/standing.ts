// The shape of a standing condition that denies new risk, and of the block that it is listed as.
import type { DenialCode } from "../../contracts/src/codes.ts";
import type * as instant from "../../contracts/src/instant.ts";
import type { BlockedGap } from "../../contracts/src/records/block.ts";
import type { ConditionScope } from "../blocks/condition.ts";
import type { FundView } from "../state/view.ts";
import type { EngineState } from "./state.ts";

export type BlockScope = ConditionScope;

export interface StandingBlock {
  readonly code: DenialCode;
  readonly scope: BlockScope;
  readonly fundId?: string;
  readonly strategyId?: string;
  readonly symbol?: string;
  /** Of one that an operator accepts. */
  readonly blockId?: string;
  readonly gap?: BlockedGap;
  /** As a decision would say it. */
  readonly reason: string;
  /** Undefined when the engine does not know. */
  readonly since: instant.Instant | undefined;
}

/** What is asked about: a fund by itself, with one of its strategies, or with a symbol. */
export interface Probe {
  readonly fundId: string;
  readonly strategyId: string;
  /** Empty for an instrument that nothing is wrong with. */
  readonly symbol: string;
}

/** Where a condition holds, from when on, and what the view is like without it. */
export interface Standing {
  scope(view: FundView): BlockScope;
  since(view: FundView, state: EngineState, probe: Probe, at: instant.Instant): instant.Instant | undefined;
  mend(view: FundView, state: EngineState, probe: Probe): void;
}

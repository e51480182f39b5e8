// A person's choice to count losses anew, made with a resume. Both services that lift halts call it, in the unit of work that lifts.
import { type Rebase, rebase } from "../../core/losses/drawdown.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import { writeLosses } from "./record-losses.ts";

export interface RebaseAsked extends Rebase {
  /** Absent means every fund. */
  readonly fundIds?: readonly string[];
}

/**
 * The funds whose baselines are new. A fund that was never valued has none to replace. Call it after `lockHalts`, which comes first for
 * everybody who takes both.
 */
export async function rebaseLosses(unit: UnitOfWork, asked: RebaseAsked): Promise<readonly string[]> {
  const fundIds = asked.fundIds ?? (await unit.losses.all()).map(({ fundId }) => fundId);
  const rebased: string[] = [];
  // In one order for everybody, so that two who do this wait for each other and not in a circle.
  for (const fundId of [...new Set(fundIds)].sort()) {
    const known = await unit.losses.lock(fundId);
    if (known === undefined) continue;
    await writeLosses(unit, fundId, rebase(known, asked));
    rebased.push(fundId);
  }
  return rebased;
}

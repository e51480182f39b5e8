// What people ask begins in turns of the loop (adapters/listener/turns.ts), so that many long questions at once keep nobody waiting for all of them. Halting
// waits for no turn, and neither does what machines ask: orders are checked one after the other as fast as they come.
import { isOperation } from "../../contracts/src/authority.ts";
import { laneOf } from "../../contracts/src/doors/lanes.ts";
import type { Identity } from "../../ports/identity.ts";
import type { Turns } from "../listener/turns.ts";

/** Waited for before the work for a call begins; undefined is at once. */
export type TurnOfCall = (identity: Identity, procedure: string) => Promise<void> | undefined;

export function turnOfCalls(turns: Turns): TurnOfCall {
  return ({ kind }, procedure) =>
    kind === "operator" ? turns.take(laneOf(isOperation(procedure) ? procedure : undefined, true)) : undefined;
}

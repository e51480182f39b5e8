// Halts that block although the store may not have them yet: those that were asked for here, until they are latched or will not be; and those that the halt
// manager announces before it latches them. The manager may die before its latch is durable, so what it announced is forgotten after a while unless the
// store's own list has it by then, or the manager has said that it is settled.
import type { ActiveHalt } from "../../contracts/src/records/halt.ts";
import type { CancelTimer } from "../../ports/timers.ts";
import type { ServicePorts } from "../shared/service.ts";

export type Unlatched = Omit<ActiveHalt, "epoch">;

export interface UnlatchedHalts {
  /** Until it is dropped. */
  block(halt: Unlatched): void;
  drop(halt: Unlatched): void;
  /** For so long at most. */
  announce(halt: Unlatched, ms: number): void;
  /** What was announced under one of these ids. */
  settle(haltIds: readonly string[]): void;
  all(): readonly Unlatched[];
  /** How many of each kind: what was announced must not take the place of what was asked for. */
  counts(): { readonly blocked: number; readonly announced: number };
  stop(): void;
}

/** `onForgotten` runs when the time of one is over. */
export function unlatchedHalts(
  { timers, log }: Pick<ServicePorts, "timers" | "log">,
  onForgotten: () => void,
): UnlatchedHalts {
  const blocked = new Map<string, Unlatched>();
  const announced = new Map<string, { readonly halt: Unlatched; readonly cancel: CancelTimer }>();

  function settleOne(key: string): void {
    announced.get(key)?.cancel();
    announced.delete(key);
  }

  return {
    block: (halt) => void blocked.set(keyOf(halt), halt),
    drop: (halt) => void blocked.delete(keyOf(halt)),
    announce(halt, ms) {
      const key = keyOf(halt);
      settleOne(key);
      const cancel = timers.after(ms, () => {
        announced.delete(key);
        log.warn("a halt that was announced is not latched, and blocks no longer", { halt_id: halt.halt_id });
        onForgotten();
      });
      announced.set(key, { halt, cancel });
    },
    settle(haltIds) {
      for (const [key, { halt }] of [...announced]) if (haltIds.includes(halt.halt_id)) settleOne(key);
    },
    all: () => [...blocked.values(), ...[...announced.values()].map(({ halt }) => halt)],
    counts: () => ({ blocked: blocked.size, announced: announced.size }),
    stop() {
      for (const { cancel } of announced.values()) cancel();
    },
  };
}

/** Two halts that were given one id by mistake both block until the store has said which of them it is. */
function keyOf({ halt_id: id, severity, fund_id: fundId, strategy_id: strategyId = "" }: Unlatched): string {
  return JSON.stringify([id, severity, fundId, strategyId]);
}

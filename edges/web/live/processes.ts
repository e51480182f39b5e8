// The processes behind the desks, as the gateway last reported them: every list asks here whether the one that answers it is there.
import { type Life, type Lives, type ServiceRow, unheardOf, withServices, withSilence } from "../model/process-life.ts";

export interface Processes {
  lifeOf(name: string): Life;
  subscribe(listen: () => void): () => void;
  /** What the gateway said of them, and when. */
  take(rows: readonly ServiceRow[], atMs: number): void;
  /** Called from time to time: a report that does not come is noticed, except where none was asked for. */
  look(nowMs: number, isFrozen: boolean): void;
  /** Called with each process that fell silent, answers again or was replaced. */
  onTurn(hear: (name: string) => void): void;
}

/** No report for this long: four are missing. */
export const unseenMs = 8_000;

export function openProcesses(openedAtMs: number): Processes {
  let lives: Lives = {};
  let seenAtMs = openedAtMs;
  const listeners = new Set<() => void>();
  const hearers = new Set<(name: string) => void>();
  const turn = (next: Lives): void => {
    const turned = Object.keys(next).filter((name) => next[name] !== (lives[name] ?? unheardOf));
    // Which process it is, is learnt without a turn.
    const heard = turned.filter((name) => isTurn(lives[name] ?? unheardOf, next[name] ?? unheardOf));
    lives = next;
    if (turned.length > 0) for (const listen of listeners) listen();
    for (const name of heard) for (const hear of hearers) hear(name);
  };
  return {
    lifeOf: (name) => lives[name] ?? unheardOf,
    subscribe(listen) {
      listeners.add(listen);
      return () => listeners.delete(listen);
    },
    take(rows, atMs) {
      seenAtMs = Math.max(seenAtMs, atMs);
      turn(withServices(lives, rows, atMs));
    },
    look(nowMs, isFrozen) {
      if (isFrozen) seenAtMs = nowMs;
      if (nowMs - seenAtMs > unseenMs) turn(withSilence(lives));
    },
    onTurn: (hear) => void hearers.add(hear),
  };
}

function isTurn(before: Life, next: Life): boolean {
  return before.isOk !== next.isOk || before.sinceMs !== next.sinceMs;
}

// How a durable subscription goes through the log. It is a value of its own because going through it wrongly (by highest
// sequence) is the classic mistake, and the conformance suite has to be shown that it notices.
import type { DurableState, LogEntry } from "./tables.ts";

export interface LogReader {
  /** The first entry behind a place; place 0 is before all. */
  after(log: readonly LogEntry[], place: number): LogEntry | undefined;
  /** The place directly behind an entry. */
  placeBehind(entry: LogEntry): number;
}

/** Right: by commit order, so that an entry which is committed late comes last and is not passed. */
export const inCommitOrder: LogReader = {
  after: (log, place) => log[place],
  placeBehind: (entry) => entry.position + 1,
};

/** How many events ahead of its place a subscription may take out of turn. */
const aheadMax = 8;

/** The events that may be handed over next: the first one of each key, those before it being handled. */
export function candidates(
  reader: LogReader,
  log: readonly LogEntry[],
  state: DurableState,
  wanted: (entry: LogEntry) => boolean,
): LogEntry[] {
  const found: LogEntry[] = [];
  const keys = new Set<string>();
  let looked = 0;
  let entry = reader.after(log, state.place);
  while (entry !== undefined && looked < aheadMax) {
    if (wanted(entry) && !state.done.has(entry.position)) {
      looked += 1;
      if (!keys.has(entry.key)) found.push(entry);
      keys.add(entry.key);
    }
    entry = reader.after(log, reader.placeBehind(entry));
  }
  return found;
}

/** Moves the place behind everything that is done or not wanted. */
export function advance(
  reader: LogReader,
  log: readonly LogEntry[],
  state: DurableState,
  wanted: (entry: LogEntry) => boolean,
): void {
  let entry = reader.after(log, state.place);
  while (entry !== undefined && (state.done.has(entry.position) || !wanted(entry))) {
    state.done.delete(entry.position);
    state.place = reader.placeBehind(entry);
    entry = reader.after(log, state.place);
  }
}

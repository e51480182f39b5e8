// Lists, read again every two seconds, halts every second: how the desk follows a server whose stream is not to be had.
import type { Timers } from "../../ports/timers.ts";
import { alwaysNeeded, type ListName } from "./lists.ts";
import { type Reading, readList } from "./read-lists.ts";
import type { Source, SourceEvent } from "./source.ts";

export const pollEveryMs = 2_000;
/** On their own and sooner: no slow list may hold up the news of a halt. */
const haltsEveryMs = 1_000;

export function pollingSource(reading: Reading, timers: Timers): Source {
  let wanted: readonly ListName[] = [];
  const sleepers = new Set<() => void>();
  const wake = (): void => {
    for (const each of [...sleepers]) each();
  };
  return {
    want(names) {
      const isNew = names.some((name) => !wanted.includes(name));
      wanted = names;
      if (isNew) wake();
    },
    refresh: () => wake(),
    async run(emit, signal) {
      const over = new AbortController();
      const ending = AbortSignal.any([signal, over.signal]);
      const follow = async (everyMs: number, names: () => readonly ListName[]): Promise<void> => {
        while (!ending.aborted) {
          const events = await round(names(), reading, ending, emit);
          if (events.some(({ kind }) => kind === "login over")) over.abort();
          await pause(everyMs, ending);
        }
      };
      const pause = async (ms: number, until: AbortSignal): Promise<void> => {
        const waiting = new AbortController();
        const wakeThis = (): void => waiting.abort();
        sleepers.add(wakeThis);
        await timers.sleep(ms, AbortSignal.any([until, waiting.signal]));
        sleepers.delete(wakeThis);
      };
      const others = (): readonly ListName[] =>
        [...new Set([...alwaysNeeded, ...wanted])].filter((name) => name !== "halts");
      await Promise.all([follow(haltsEveryMs, () => ["halts"]), follow(pollEveryMs, others)]);
    },
  };
}

async function round(
  names: readonly ListName[],
  reading: Reading,
  signal: AbortSignal,
  emit: (event: SourceEvent) => void,
): Promise<readonly SourceEvent[]> {
  const all = await Promise.all(
    names.map(async (name) => {
      const events = await readList(name, reading, signal);
      // Each as it comes: a slow list holds up no other.
      for (const event of events) if (event.kind !== "unreachable") emit(event);
      return events;
    }),
  );
  const events = all.flat();
  // Out of reach is who answers nothing at all: one call may be lost while another arrives.
  const lost = events.find(({ kind }) => kind === "unreachable");
  if (lost !== undefined && !events.some(({ kind }) => kind === "heard")) emit(lost);
  return events;
}

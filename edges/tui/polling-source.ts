// Lists, read again every two seconds: how the desk follows a server whose stream is not to be had.
import type { Timers } from "../../ports/timers.ts";
import { alwaysNeeded, type ListName } from "./lists.ts";
import { type Reading, readList } from "./read-lists.ts";
import type { Source, SourceEvent } from "./source.ts";

export const pollEveryMs = 2_000;

export function pollingSource(reading: Reading, timers: Timers): Source {
  let wanted: readonly ListName[] = [];
  let wake: (() => void) | undefined;
  return {
    want(names) {
      const isNew = names.some((name) => !wanted.includes(name));
      wanted = names;
      if (isNew) wake?.();
    },
    refresh: () => wake?.(),
    async run(emit, signal) {
      while (!signal.aborted) {
        const events = await round([...new Set([...alwaysNeeded, ...wanted])], reading, signal, emit);
        if (events.some(({ kind }) => kind === "login over")) return;
        const waiting = new AbortController();
        wake = () => waiting.abort();
        await timers.sleep(pollEveryMs, AbortSignal.any([signal, waiting.signal]));
        wake = undefined;
      }
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

// The desk's data: every list is read once, and then again whenever an event of the server's stream touched it.
//
//  1. A list is read at most once in its own gap, however many events touch it, and each on its own: no slow list holds up the news of a halt.
//  2. Opening the stream, anew or for the first time, and `reset` make every list old: nothing that happened in between is missed.
//  3. Without a stream every list is read every two seconds, halts every second. What no event announces is read every two seconds in any case.
//  4. With a stream only the stream says that the server is heard: an answer to a question proves nothing about the events that do not come.
import { exitCodes } from "../../contracts/src/codes/shape.ts";
import { type Instant, millisecondsBetween } from "../../contracts/src/instant.ts";
import type { Timers } from "../../ports/timers.ts";
import { failureOf } from "../ctl/failure.ts";
import { alwaysNeeded, type ListName } from "./lists.ts";
import { type Reading, readList } from "./read-lists.ts";
import type { Source, SourceEvent } from "./source.ts";

export const pollEveryMs = 2_000;
const haltsEveryMs = 1_000;
/** Of what events announce all the same: one that was never published would be missed for ever. */
const announcedEveryMs = 10_000;
const heartbeatS = 2;
/** A stream that was refused, not lost: by a role, a server that has none, or too many of them. */
const reopenMs = 30_000;
/** How often it is said that the server is heard. */
const heardEveryMs = 500;

/** Every change of these is an event; the rest moves with prices and time. */
const announced: ReadonlySet<ListName> = new Set(["halts", "orders", "stops", "differences"]);

const gapMs: Partial<Readonly<Record<ListName, number>>> = { halts: 200, orders: 400 };
const gapMsUsual = 1_000;

interface Slot {
  /** Something touched it since its last reading began. */
  marked: boolean;
  /** What was read is still so, as far as the stream says. */
  current: boolean;
  wake(): void;
}

export function liveSource(reading: Reading, timers: Timers): Source {
  const slots = new Map<ListName, Slot>();
  const needed = new Set<ListName>(alwaysNeeded);
  let begin: ((name: ListName) => void) | undefined;
  const mark = (names: Iterable<ListName>): void => {
    for (const name of names) {
      const slot = slots.get(name);
      if (slot === undefined) continue;
      slot.marked = true;
      slot.current = false;
      slot.wake();
    }
  };
  return {
    want(names) {
      const fresh = names.filter((name) => !needed.has(name));
      needed.clear();
      for (const name of [...alwaysNeeded, ...names]) needed.add(name);
      for (const name of fresh) begin?.(name);
      mark(fresh);
    },
    refresh: () => mark(needed),
    async run(emit, signal) {
      const over = new AbortController();
      const end = (): void => {
        over.abort();
        mark(slots.keys());
      };
      signal.addEventListener("abort", end, { once: true });
      const link = linkOf(reading, emit, { slots, needed, mark, end });
      const loops: Promise<void>[] = [];
      begin = (name) => {
        if (slots.has(name)) return;
        const slot: Slot = { marked: false, current: false, wake: nothing };
        slots.set(name, slot);
        loops.push(keepRead(name, slot, { reading, timers, link, needed, ending: over.signal }));
      };
      for (const name of needed) begin(name);
      await follow(link, reading, timers, over.signal);
      // Lists that were wanted later have loops of their own.
      for (const loop of loops) await loop;
      signal.removeEventListener("abort", end);
    },
  };
}

const nothing = (): void => undefined;

interface Link {
  isOpen(): boolean;
  /** Something came over the stream. */
  opened(): void;
  alive(): void;
  lost(reason: unknown): void;
  touched(names: Iterable<ListName> | "every"): void;
  /** What reading a list came to; whether it was read. */
  came(events: readonly SourceEvent[], heardBefore: number): boolean;
  loginOver(detail: string): void;
  /** Counts what was heard. */
  heard(): number;
}

interface Board {
  readonly slots: ReadonlyMap<ListName, Slot>;
  readonly needed: ReadonlySet<ListName>;
  mark(names: Iterable<ListName>): void;
  end(): void;
}

/** How the server is heard, and what is said of it. */
function linkOf({ clock }: Reading, emit: (event: SourceEvent) => void, { slots, needed, mark, end }: Board): Link {
  let open = false;
  let heard = 0;
  let saidAt: Instant | undefined;
  const currentNames = (): readonly ListName[] =>
    [...slots].flatMap(([name, { current }]) => (current && announced.has(name) ? [name] : []));
  const link: Link = {
    isOpen: () => open,
    heard: () => heard,
    opened() {
      if (open) return;
      open = true;
      saidAt = undefined;
      mark(needed);
    },
    alive() {
      link.opened();
      const at = clock.now();
      if (saidAt !== undefined && millisecondsBetween(saidAt, at) < heardEveryMs) return;
      saidAt = at;
      emit({ kind: "heard", at, mode: "stream", current: currentNames() });
    },
    lost(reason) {
      if (!open) return;
      open = false;
      const detail = reason instanceof Error ? reason.message : "The stream of events ended.";
      emit({ kind: "unreachable", at: clock.now(), detail });
      // Read by asking from now on.
      mark(needed);
    },
    touched: (names) => mark(names === "every" ? needed : names),
    loginOver(detail) {
      emit({ kind: "login over", detail });
      end();
    },
    came(events, heardBefore) {
      for (const event of events) {
        if (event.kind === "login over") link.loginOver(event.detail);
        else if (event.kind === "heard") {
          heard += 1;
          if (!open) emit(event);
        } else if (event.kind === "unreachable") {
          // Out of reach is who answers nothing at all: one call may be lost while another arrives.
          if (!open && heard === heardBefore) emit(event);
        } else emit(event);
      }
      return events.some(({ kind }) => kind === "list");
    },
  };
  return link;
}

interface Keeping {
  readonly reading: Reading;
  readonly timers: Timers;
  readonly link: Link;
  readonly needed: ReadonlySet<ListName>;
  readonly ending: AbortSignal;
}

/** Reads one list for as long as somebody sees it: when it was touched, and when its time is up. */
async function keepRead(name: ListName, slot: Slot, { reading, timers, link, needed, ending }: Keeping): Promise<void> {
  const woken = (msMax: number | undefined): Promise<void> =>
    new Promise((resolve) => {
      const done = (): void => {
        cancel?.();
        slot.wake = nothing;
        resolve();
      };
      const cancel = msMax === undefined ? undefined : timers.after(msMax, done);
      slot.wake = done;
    });
  while (!ending.aborted) {
    if (!needed.has(name)) {
      await woken(undefined);
      continue;
    }
    slot.marked = false;
    const heardBefore = link.heard();
    const isRead = link.came(await readList(name, reading, ending), heardBefore);
    slot.current = isRead && !slot.marked && link.isOpen();
    await timers.sleep(gapMs[name] ?? gapMsUsual, ending);
    if (ending.aborted) return;
    if (!slot.marked) await woken(restMs(name, isRead && link.isOpen()));
  }
}

function restMs(name: ListName, isFollowed: boolean): number {
  if (isFollowed && announced.has(name)) return announcedEveryMs;
  return (name === "halts" ? haltsEveryMs : pollEveryMs) - (gapMs[name] ?? gapMsUsual);
}

async function follow(link: Link, { client }: Reading, timers: Timers, ending: AbortSignal): Promise<void> {
  const { followedPatterns, touchedBy } = await import("./touched-lists.ts");
  while (!ending.aborted) {
    try {
      const asked = { subjects: followedPatterns, heartbeatS };
      const heard = { signal: ending, onAlive: link.alive, onLost: link.lost };
      for await (const event of client.events(asked, heard)) {
        link.opened();
        link.touched(event.type === "reset" ? "every" : touchedBy(event.subject));
      }
    } catch (thrown) {
      if (ending.aborted) return;
      const { exit, detail } = await failureOf(thrown);
      if (exit === exitCodes.notLoggedIn) return link.loginOver(detail);
      link.lost(thrown);
    }
    await timers.sleep(reopenMs, ending);
  }
}

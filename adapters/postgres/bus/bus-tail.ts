// The end of the outbox as screens see it: one reader per process for all listeners, from now on, never late: a hole is
// waited for a quarter of a second and then passed over. Missing an event is allowed here, being stuck is not.
import { messageOf } from "../../../contracts/src/fault.ts";
import { matchesAny } from "../../../contracts/src/subjects.ts";
import type { BusEvent } from "../../../ports/bus.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Log } from "../../../ports/log.ts";
import type { Timers } from "../../../ports/timers.ts";
import { messagesOf, newestIdText } from "../risk/decision-rows.ts";
import { decodeRow, type SubjectByName } from "./bus-decode.ts";
import type { NotificationProof } from "./bus-pulse.ts";
import type { BusSession } from "./bus-session.ts";
import { createOutboxReader } from "./outbox-reader.ts";
import type { OutboxRow } from "./outbox-row.ts";
import { createPollPace, pollMs, rest } from "./subscription-pace.ts";
import { createBell, hearsFor, type PokeSource } from "./subscription-wake.ts";

interface Tail {
  /** Hears what is committed from now on; gives the function that stops it. */
  add(patterns: readonly string[], offer: (event: BusEvent) => void): Promise<() => void>;
  close(): Promise<void>;
}

interface Listener {
  readonly patterns: readonly string[];
  readonly from: bigint;
  offer(event: BusEvent): void;
}

const holePatienceMs = 250;
const holeMs = 5;
/** A decision is several messages, and a page is handed over without a pause. */
const rowsMax = 250;

export function createTail(options: {
  readonly session: BusSession;
  readonly wake: PokeSource;
  readonly pulse: NotificationProof;
  readonly subjectByName: SubjectByName;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
}): Tail {
  const { session, timers, log } = options;
  const listeners = new Set<Listener>();
  const closing = new AbortController();
  const reader = createOutboxReader({ run: session.run, clock: options.clock, patienceMs: holePatienceMs });
  let patterns: readonly string[] = [];
  let hears = hearsFor(patterns);
  const pace = createPollPace(options.clock, options.pulse);
  const bell = createBell(options.wake, timers, closing.signal, (...poked) => hears(...poked), pace.rung);
  let position: bigint | undefined;
  let living: Promise<void> | undefined;

  function handOver(row: OutboxRow): void {
    for (const listener of listeners) {
      if (row.id <= listener.from || !matchesAny(listener.patterns, row.subject)) continue;
      // Decoded for each anew, so that no listener sees what another made of the payload.
      const decoded = decodeRow(row, options.subjectByName);
      if ("event" in decoded) listener.offer(decoded.event);
      else
        log.warn("event not handed to a listener", {
          event: row.eventId,
          subject: row.subject,
          reason: decoded.poison,
        });
    }
  }

  /** The end of the outbox and of the journal's decisions, whichever is later. */
  async function newest(): Promise<bigint> {
    const text = `select greatest(${newestIdText}, (select trimmed_id from outbox_floor))::text`;
    return BigInt(String((await session.run({ text, rowMode: "array" })).rows[0]?.[0]));
  }

  async function live(): Promise<void> {
    const stopped = (): boolean => closing.signal.aborted || listeners.size === 0;
    let isUnannounced = false;
    while (!stopped()) {
      bell.silence();
      try {
        const opening = await session.opened(closing.signal);
        if (opening === "closed") break;
        if (opening === "aborted") continue;
        position ??= await newest();
        const readAt = options.clock.now();
        const page = await reader.read(position, rowsMax, patterns);
        if (isUnannounced && page.rows.length > 0 && !bell.hasRung()) pace.foundUnannounced();
        for (const row of page.rows) for (const message of messagesOf(row, patterns)) handOver(message);
        position = page.through;
        // Held by a hole, every commit would ring the bell for a page that is read already.
        isUnannounced = false;
        if (page.held) await timers.sleep(holeMs, closing.signal);
        else if (!page.more) isUnannounced = await rest(bell, pace, readAt, stopped);
      } catch (thrown) {
        log.warn("listening interrupted", { reason: messageOf(thrown) });
        await timers.sleep(pollMs, closing.signal);
      }
    }
    position = undefined;
    living = undefined;
  }

  function updatePatterns(): void {
    patterns = [...new Set([...listeners].flatMap((listener) => listener.patterns))];
    hears = hearsFor(patterns);
  }

  return {
    async add(wanted, offer) {
      const from = await newest();
      const listener: Listener = { patterns: wanted, from, offer };
      listeners.add(listener);
      updatePatterns();
      if (living === undefined) {
        position = from;
        living = live();
      }
      return () => {
        listeners.delete(listener);
        updatePatterns();
      };
    },
    async close() {
      listeners.clear();
      closing.abort();
      await living;
      bell.close();
    },
  };
}

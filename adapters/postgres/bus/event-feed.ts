// The feed of events on PostgreSQL: pages of the outbox, of the journal's decisions and of the audit log, read as durable subscriptions read them, and
// without a cursor of their own. It keeps the promises of ports/event-feed.ts.
//
// An id is the number of a row, or of a message within the row of a decision: "812", "813.0" to "813.7".
import { Fault } from "../../../contracts/src/fault.ts";
import { millisecondsBetween } from "../../../contracts/src/instant.ts";
import { everySubject, matchesAny } from "../../../contracts/src/subjects.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { EventFeed, FeedEvent, FeedPage, FeedRequest } from "../../../ports/event-feed.ts";
import type { Log } from "../../../ports/log.ts";
import type { Timers } from "../../../ports/timers.ts";
import { messagesOf, newestIdText } from "../risk/decision-rows.ts";
import { decodeRow, type SubjectByName } from "./bus-decode.ts";
import { createOutboxReader, type RunStatement } from "./outbox-reader.ts";
import type { OutboxRow } from "./outbox-row.ts";
import { createBell, hearsFor, type PokeSource } from "./subscription-wake.ts";

interface EventFeedOptions {
  /** One statement on a connection with the settings of a reader. */
  readonly run: RunStatement;
  readonly wake: PokeSource;
  readonly subjectByName: SubjectByName;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
}

/** A decision is up to eight events. */
const rowsMax = 100;
const pollMs = 1_000;
const holeMs = 10;
/** What comes together is read together; with many readers each reads less often, so that all of them ask for at most this much in a second. */
const gatherMsMin = 20;
const gatherMsEach = 5;
const gatherMsMax = 1_000;
/** A transaction that took its number this many rows ago and has not ended is not waited for by who begins now. */
const rowsBack = 5_000;
const settleTries = 3;

const every = [everySubject];

interface Place {
  readonly row: bigint;
  /** Of a decision: the last message that was read; undefined once the whole row was. */
  readonly message: number | undefined;
}

const idForm = /^(0|[1-9][0-9]{0,17})(?:\.([0-9]))?$/;

function placeOf(id: string): Place {
  const [, row, message] = idForm.exec(id) ?? [];
  if (row !== undefined) return { row: BigInt(row), message: message === undefined ? undefined : Number(message) };
  throw new Fault(
    "INVALID_ARGUMENT",
    "The id of an event is a number, or two with a point between them: 812 or 813.4.",
    {
      retry: "never",
    },
  );
}

export function createEventFeed(options: EventFeedOptions): Omit<EventFeed, "onMark"> {
  const { run, clock, timers, log } = options;
  let readers = 0;

  async function number(text: string): Promise<bigint> {
    return BigInt(String((await run({ text, rowMode: "array" })).rows[0]?.[0]));
  }
  const floor = (): Promise<bigint> => number("select trimmed_id::text from outbox_floor");
  const end = (): Promise<bigint> =>
    number(`select greatest(coalesce(${newestIdText}, 0), (select trimmed_id from outbox_floor))::text`);

  /** Never beyond a number whose transaction may still commit: who begins there would miss it. */
  async function newest(): Promise<string> {
    const last = await end();
    const reader = createOutboxReader({ run, clock });
    let position = last > BigInt(rowsBack) ? last - BigInt(rowsBack) : 0n;
    const kept = await floor();
    if (kept > position) position = kept;
    for (let tries = 0; tries < settleTries; ) {
      const page = await reader.read(position, rowsBack, []);
      position = page.through;
      if (!page.held && !page.more) break;
      if (page.held) {
        tries += 1;
        await timers.sleep(holeMs, new AbortController().signal);
      }
    }
    return String(position);
  }

  async function reset(): Promise<FeedPage> {
    return { events: [], after: await newest(), reset: true };
  }

  function eventsOf(row: OutboxRow, from: Place, subjects: readonly string[]): readonly FeedEvent[] {
    const isDecision = row.record !== undefined;
    // Numbered before they are chosen, so that a message has the same id for everybody.
    return messagesOf(row, every).flatMap((message, index) => {
      if (row.id === from.row && index <= (from.message ?? Number.POSITIVE_INFINITY)) return [];
      if (!matchesAny(subjects, message.subject)) return [];
      const decoded = decodeRow(message, options.subjectByName);
      if ("event" in decoded) {
        const { subject, at, payload } = decoded.event;
        return [{ id: isDecision ? `${row.id}.${index}` : String(row.id), subject, at, payload }];
      }
      log.warn("an event is left out of the feed", {
        event: message.eventId,
        subject: message.subject,
        reason: decoded.poison,
      });
      return [];
    });
  }

  async function readOn({ after, subjects, waitMs, signal }: FeedRequest): Promise<FeedPage> {
    const from = placeOf(after);
    const startedAt = clock.now();
    const reader = createOutboxReader({ run, clock });
    const bell = createBell(options.wake, timers, signal, hearsFor(subjects));
    // The row of a decision that was read in part is read again.
    let position = from.message === undefined ? from.row : from.row - 1n;
    try {
      if (from.row > (await end())) return await reset();
      for (;;) {
        bell.silence();
        const page = await reader.read(position, rowsMax, subjects);
        // Asked after the page: what was trimmed before it was read is missing in it.
        if ((await floor()) > position) return await reset();
        position = page.through;
        const events = page.rows.flatMap((row) => eventsOf(row, from, subjects));
        const leftMs = waitMs - millisecondsBetween(startedAt, clock.now());
        if (events.length > 0 || leftMs <= 0 || signal.aborted) {
          return { events, after: position < from.row ? after : String(position), reset: false };
        }
        if (page.held) await timers.sleep(holeMs, signal);
        else if (!page.more) {
          await bell.wait(Math.min(leftMs, pollMs));
          const gatherMs = Math.min(Math.max(gatherMsMin, readers * gatherMsEach), gatherMsMax, Math.max(0, leftMs));
          await timers.sleep(gatherMs, signal);
        }
      }
    } finally {
      bell.close();
    }
  }

  return {
    newest,
    async read(request) {
      readers += 1;
      try {
        return await readOn(request);
      } finally {
        readers -= 1;
      }
    },
  };
}

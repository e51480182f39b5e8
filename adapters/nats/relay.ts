// Carries the outbox to NATS: reads behind a cursor, publishes in order, and moves the cursor only behind what the server
// has answered for. One relay works at a time; the others stand by.
//
//  1. The cursor never passes a row that the stream has not acknowledged. A decision is one row and several messages: it is passed
//     behind the last of them, and sent again whole when it was sent in part.
//  2. A crash between publishing and saving the cursor publishes again: within the server's window the repetition
//     vanishes there, later the subscribers recognise it by its id.
//  3. JetStream answers before its disk does, so a server that lost power may have lost what it had answered for. At every
//     start and after every reconnect the end of the stream is compared with the cursor, and what is missing is sent again.
//  4. A full stream or an absent server stops the relay and is complained about; the outbox keeps everything meanwhile.
import { messageOf } from "../../contracts/src/fault.ts";
import type { BusHealth } from "../../ports/bus.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { Timers } from "../../ports/timers.ts";
import type { NatsLink } from "./connect.ts";
import { backoffMs } from "./handle-one.ts";
import type { Leadership } from "./lead.ts";
import type { Park } from "./park.ts";
import { type OutboxRow, publishBurst } from "./publish-burst.ts";
import { resumePosition, type Stored } from "./relay-resume.ts";
import { ensureStream, type StreamOptions, streamName } from "./stream.ts";
import { trimStream } from "./trim.ts";

export const relayName = "nats.relay";

/** A message, under the number of the row that it comes from: those of one row follow each other. */
interface RelayMessage extends OutboxRow {
  /** Why it must not be published. */
  readonly poison?: string;
}

interface OutboxPage {
  readonly rows: readonly RelayMessage[];
  readonly through: bigint;
  readonly more: boolean;
  readonly held: boolean;
}

/** What whoever leads the relay works with; all of it ends with the leadership. */
interface RelayLeadership extends Leadership {
  /** How far the rows had been acknowledged when the leadership began. */
  readonly cursor: bigint;
  /** Messages of rows behind a position, in order, never past one that may still come, about 8 MB at most; the limit counts rows. */
  read(after: bigint, limit: number): Promise<OutboxPage>;
  /** What lies at or before this position is not sent again: the outbox keeps nothing of it, and the journal is kept for ever. */
  floor(): Promise<bigint>;
  saveCursor(position: bigint): Promise<void>;
}

/** Resolves once this process leads the relay; rejects when the signal aborts first. */
export type LeadRelay = (signal: AbortSignal) => Promise<RelayLeadership>;

export interface RelayOptions {
  /** The relay's own: closing the relay closes it. */
  readonly link: NatsLink;
  readonly stream: StreamOptions;
  readonly lead: LeadRelay;
  /** Takes a message that cannot be published: larger than the server accepts, or made from a row that cannot be read. */
  readonly park: Park;
  /** Calls back when something was committed; polling stands behind it. */
  readonly onPoke: (run: () => void) => () => void;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  /** Messages published without an answer; default 256. A page of rows, and so a burst, also ends at about 8 MB. */
  readonly windowMax?: number;
  readonly pollMs?: number;
  /** The cursor is saved at most this often; a crash costs repetitions, not events. */
  readonly saveMs?: number;
  readonly answerMsMax?: number;
  /** How long finished messages stay in the stream, and how often it is trimmed. */
  readonly keepMs?: number;
  readonly trimMs?: number;
}

export interface Relay {
  publishedCount(): number;
  health(): BusHealth;
  close(): Promise<void>;
}

const windowMaxDefault = 256;
/** How often an idle relay looks whether its stream is still there. */
const lookEveryMs = 2_000;

interface RelayState {
  position: bigint;
  stored: Stored | undefined;
  saved: bigint;
  savedAtMs: number;
  publishedCount: number;
  trouble: string | undefined;
}

export function startRelay(options: RelayOptions): Relay {
  const stop = new AbortController();
  const state: RelayState = {
    position: 0n,
    stored: undefined,
    saved: 0n,
    savedAtMs: 0,
    publishedCount: 0,
    trouble: undefined,
  };
  const running = run(options, state, stop.signal);
  return {
    publishedCount: () => state.publishedCount,
    health() {
      const health = options.link.health();
      if (health.complaint !== undefined || state.trouble === undefined) return health;
      return { connected: health.connected, complaint: state.trouble };
    },
    async close() {
      stop.abort();
      await running;
      await options.link.close();
    },
  };
}

/** Leads, works a term, and starts over with a back-off when something fails; it never rejects. */
async function run(options: RelayOptions, state: RelayState, stop: AbortSignal): Promise<void> {
  for (let failures = 0; !stop.aborted && !options.link.connection.isClosed(); ) {
    try {
      const leadership = await options.lead(stop);
      try {
        state.saved = leadership.cursor;
        await runTerms(options, state, leadership, AbortSignal.any([stop, leadership.lost]));
        failures = 0;
      } finally {
        await leadership.release();
      }
    } catch (thrown) {
      if (stop.aborted) return;
      failures++;
      complain(options, state, messageOf(thrown));
      await options.timers.sleep(backoffMs(failures), stop);
    }
  }
}

async function runTerms(
  options: RelayOptions,
  state: RelayState,
  leadership: RelayLeadership,
  signal: AbortSignal,
): Promise<void> {
  for (let failures = 0; !signal.aborted && !options.link.connection.isClosed(); ) {
    if (!options.link.health().connected) {
      await options.timers.sleep(50, signal);
      continue;
    }
    const publishedBefore = state.publishedCount;
    try {
      await runTerm(options, state, leadership, signal);
      failures = 0;
    } catch (thrown) {
      failures = state.publishedCount > publishedBefore ? 1 : failures + 1;
      complain(options, state, messageOf(thrown));
      await options.timers.sleep(backoffMs(failures), signal);
    }
  }
}

function complain(options: RelayOptions, state: RelayState, reason: string): void {
  const sentence = `The relay to NATS does not get on: ${reason}`;
  if (state.trouble !== sentence) options.log.warn("the relay to NATS does not get on", { reason });
  state.trouble = sentence;
}

/** Publishes until the signal aborts, the connection changes or something fails (which rejects). */
async function runTerm(
  options: RelayOptions,
  state: RelayState,
  leadership: RelayLeadership,
  signal: AbortSignal,
): Promise<void> {
  const { link } = options;
  const lost = link.lost();
  const name = streamName(options.stream);
  await link.unlessLost(ensureStream(link, options.stream));
  const resuming = resumePosition(link, name, state.saved, state.stored, leadership, options.log);
  state.position = await link.unlessLost(resuming);
  const windowMax = options.windowMax ?? windowMaxDefault;
  const waiter = pokeWaiter(options);
  // Whoever awaits the page meets the failure; until then it only must not count as unhandled.
  const noteReadAhead = (thrown: unknown): void =>
    options.log.debug("reading ahead failed", { reason: messageOf(thrown) });
  let trimAtMs = nowMs(options) + (options.trimMs ?? 60_000);
  let lookAtMs = nowMs(options) + lookEveryMs;
  let ahead: Promise<OutboxPage> | undefined;
  try {
    while (!signal.aborted && !lost.aborted) {
      const page = await (ahead ?? leadership.read(state.position, windowMax));
      // The next page is read while this one is being published: the database and the server work side by side.
      ahead = page.more ? leadership.read(page.through, windowMax) : undefined;
      ahead?.catch(noteReadAhead);
      await publishPage(options, state, name, page, signal);
      if (signal.aborted) break;
      state.trouble = undefined;
      await save(options, state, leadership, "when due");
      if (nowMs(options) >= lookAtMs) {
        lookAtMs = nowMs(options) + lookEveryMs;
        // A stream that somebody deleted while nothing was published: this fails, and the next term makes it again and fills it.
        await link.unlessLost(link.manager.streams.info(name));
      }
      if (nowMs(options) >= trimAtMs) {
        trimAtMs = nowMs(options) + (options.trimMs ?? 60_000);
        const trimming = { streamName: name, now: options.clock.now(), keepMs: options.keepMs ?? 3_600_000 };
        await link.unlessLost(trimStream(link, trimming));
      }
      if (!page.more)
        await waiter.wait(page.held ? 5 : Math.min(options.pollMs ?? 250, saveDueMs(options, state)), signal);
    }
  } finally {
    waiter.close();
    // One reader follows one cursor: the next term must not read while this one's last read is under way.
    await ahead?.catch(noteReadAhead);
    await save(options, state, leadership, "now");
  }
}

async function publishPage(
  options: RelayOptions,
  state: RelayState,
  name: string,
  page: OutboxPage,
  signal: AbortSignal,
): Promise<void> {
  let rest = await withoutUnsendable(options, page.rows);
  while (rest.length > 0) {
    if (signal.aborted) return;
    const burst = rest.slice(0, options.windowMax ?? windowMaxDefault);
    const result = await publishBurst(options.link, name, burst, options.answerMsMax ?? 5_000);
    const last = rest[result.storedCount - 1];
    if (last !== undefined) {
      // A row of which messages are still to come is not behind us.
      const isWhole = rest[result.storedCount]?.id !== last.id;
      state.position = isWhole ? last.id : last.id - 1n;
      if (result.lastSequence !== undefined) {
        state.stored = { position: state.position, eventId: last.eventId, sequence: result.lastSequence };
      }
    }
    state.publishedCount += result.storedCount;
    if (result.failure !== undefined) throw new Error(result.failure);
    rest = rest.slice(result.storedCount);
  }
  state.position = page.through;
}

/** A message that the server would never take must not hold up all others: it is parked, which is reported, and passed over. */
async function withoutUnsendable(
  options: RelayOptions,
  messages: readonly RelayMessage[],
): Promise<readonly RelayMessage[]> {
  const bytesMax = (options.link.connection.info?.max_payload ?? 1_048_576) - 8_192;
  // Three bytes per UTF-16 unit is the most that UTF-8 needs: most are judged without being encoded.
  const isOversized = ({ payload }: RelayMessage): boolean =>
    payload.length * 3 > bytesMax && Buffer.byteLength(payload) > bytesMax;
  const isUnsendable = (message: RelayMessage): boolean => message.poison !== undefined || isOversized(message);
  if (!messages.some(isUnsendable)) return messages;
  for (const message of messages.filter(isUnsendable)) {
    const { eventId: id, subject, key, at, source } = message;
    const error = message.poison ?? `the payload is larger than the ${bytesMax} bytes that the NATS server takes`;
    const payload = Buffer.from(message.payload);
    await options.park({ id, subject, key, at, source, payload, attempts: 0, error, subscription: relayName });
  }
  return messages.filter((message) => !isUnsendable(message));
}

async function save(
  options: RelayOptions,
  state: RelayState,
  leadership: RelayLeadership,
  when: "now" | "when due",
): Promise<void> {
  // A position that was thrown back is not saved: a restart finds it again at the end of the stream.
  if (state.position <= state.saved) return;
  if (when === "when due" && saveDueMs(options, state) > 0) return;
  const position = state.position;
  await leadership.saveCursor(position);
  state.saved = position;
  state.savedAtMs = nowMs(options);
}

/** Milliseconds until the cursor is to be saved; infinite when there is nothing to save. */
function saveDueMs(options: RelayOptions, state: RelayState): number {
  if (state.position <= state.saved) return Number.POSITIVE_INFINITY;
  return Math.max(0, state.savedAtMs + (options.saveMs ?? 100) - nowMs(options));
}

function nowMs(options: RelayOptions): number {
  return options.clock.now() / 1_000;
}

/** Remembers a wake-up that comes while nobody waits, so that none is missed between reading and waiting. */
function pokeWaiter(options: RelayOptions): { wait(ms: number, signal: AbortSignal): Promise<void>; close(): void } {
  let poked = false;
  let wake: () => void = () => undefined;
  const close = options.onPoke(() => {
    poked = true;
    wake();
  });
  return {
    close,
    async wait(ms, signal) {
      if (!poked && !signal.aborted) {
        await new Promise<void>((resolve) => {
          const cancel = options.timers.after(ms, () => wake());
          wake = () => {
            cancel();
            signal.removeEventListener("abort", wake);
            resolve();
          };
          signal.addEventListener("abort", wake);
        });
        wake = () => undefined;
      }
      poked = false;
    },
  };
}

// Trims the stream like the outbox: what every durable subscription has finished and what is old enough may go. The
// newest message always stays, because a restarted relay reads from it how far it had come.
import type { Instant } from "../../contracts/src/instant.ts";
import { minusMilliseconds, toUnixMs, tryParse } from "../../contracts/src/instant.ts";
import type { Clock } from "../../ports/clock.ts";
import type { NatsLink } from "./connect.ts";
import { recordedPlace } from "./consumer-list.ts";

interface TrimOptions {
  readonly streamName: string;
  readonly now: Instant;
  /** Younger messages stay even when everybody has finished them. */
  readonly keepMs: number;
}

/** Removes what may go and says how many messages that was. */
export async function trimStream(link: NatsLink, options: TrimOptions): Promise<number> {
  const { state } = await link.manager.streams.info(options.streamName);
  let through = state.last_seq - 1;
  for await (const info of link.manager.consumers.list(options.streamName)) {
    // A consumer without a durable name is somebody's passing look; it must not hold back trimming.
    if (info.config.durable_name !== undefined) through = Math.min(through, recordedPlace(info).sequence);
  }
  if (through < state.first_seq) return 0;
  const oldestKeptMs = toUnixMs(minusMilliseconds(options.now, options.keepMs));
  const last = await lastStoredBefore(link, options.streamName, state.first_seq, through, oldestKeptMs);
  if (last < state.first_seq) return 0;
  // The server removes everything below the number that it is given.
  const answer = await link.manager.streams.purge(options.streamName, { seq: last + 1 });
  return answer.purged;
}

/**
 * When the oldest message that can still be handed over was stored; an empty stream can hand over only what is yet to come.
 * Undefined while the server is away.
 */
export async function oldestStored(link: NatsLink, streamName: string, clock: Clock): Promise<Instant | undefined> {
  if (!link.health().connected) return undefined;
  const now = clock.now();
  const { state } = await link.unlessLost(link.manager.streams.info(streamName));
  return state.messages === 0 ? now : tryParse(state.first_ts);
}

/** The highest sequence in the range that was stored before that moment, or one below the range. Times rise with numbers. */
async function lastStoredBefore(
  link: NatsLink,
  streamName: string,
  first: number,
  last: number,
  beforeMs: number,
): Promise<number> {
  let low = first - 1;
  let high = last;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const message = await link.manager.streams.getMessage(streamName, { seq: middle });
    // A message that is already gone is older than those that are there.
    if (message === null || message.time.getTime() < beforeMs) low = middle;
    else high = middle - 1;
  }
  return low;
}

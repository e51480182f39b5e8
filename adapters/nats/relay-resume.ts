// Where the relay goes on: the saved cursor says how far it was sure to be, the end of the stream says how far it was. Anybody
// may publish into the stream, with any headers: a message counts as ours only with an id of the row that it names. A decision is one row
// with several messages: behind the last of them the row is done, behind any other it is sent again whole.
import type { Log } from "../../ports/log.ts";
import type { NatsLink } from "./connect.ts";
import { idIn, positionOf } from "./wire.ts";

/** Foreign messages may lie at the end of the stream; so many are looked through for one of ours. */
const lookBackMax = 2_000;

/** The newest row that this relay itself has seen stored. */
export interface Stored {
  readonly position: bigint;
  readonly eventId: string;
  readonly sequence: number;
}

interface Kept {
  read(after: bigint, limit: number): Promise<{ readonly rows: readonly Sent[] }>;
  floor(): Promise<bigint>;
}

/** A message, under the number of its row. */
interface Sent {
  readonly id: bigint;
  readonly eventId: string;
}

/** Never behind what is kept: there would be decisions without the events between them, as many as were ever made. */
export async function resumePosition(
  link: NatsLink,
  streamName: string,
  cursor: bigint,
  stored: Stored | undefined,
  kept: Kept,
  log: Log,
): Promise<bigint> {
  const found = await positionByStream(link, streamName, cursor, stored, kept, log);
  const floor = await kept.floor();
  return found > floor ? found : floor;
}

async function positionByStream(
  link: NatsLink,
  streamName: string,
  cursor: bigint,
  stored: Stored | undefined,
  kept: Kept,
  log: Log,
): Promise<bigint> {
  const { state } = await link.manager.streams.info(streamName);
  if (state.last_seq === 0) {
    if (cursor > 0n) log.warn("the NATS stream is new; everything that the outbox keeps is published again", {});
    return 0n;
  }
  // Streams lose their end, never their middle: while our newest message is there, so is everything before it.
  if (stored !== undefined && (await isStill(link, streamName, stored))) return stored.position;
  const newest = await newestOfOurs(link, streamName, state, cursor, kept);
  if (newest === undefined && state.last_seq - state.first_seq < lookBackMax) {
    if (cursor > 0n) log.warn("the NATS stream holds nothing of ours; what the outbox keeps is published again", {});
    return 0n;
  }
  if (newest === undefined) {
    log.warn("the end of the stream holds no message of ours; the relay trusts its cursor", { cursor: String(cursor) });
    return cursor;
  }
  if (newest < cursor) {
    // Usually only numbers of rolled-back transactions lie between, and reading them again finds nothing.
    log.info("the relay reads again behind the end of the stream", { cursor: String(cursor), end: String(newest) });
  }
  // Ahead of the cursor after a crash before saving.
  return newest;
}

async function isStill(link: NatsLink, streamName: string, stored: Stored): Promise<boolean> {
  const message = await link.manager.streams.getMessage(streamName, { seq: stored.sequence });
  return idIn(message?.header) === stored.eventId;
}

async function newestOfOurs(
  link: NatsLink,
  streamName: string,
  ends: { readonly first_seq: number; readonly last_seq: number },
  cursor: bigint,
  kept: Kept,
): Promise<bigint | undefined> {
  const { first_seq: first, last_seq: last } = ends;
  for (let sequence = last; sequence >= first && sequence > last - lookBackMax; sequence--) {
    const message = await link.manager.streams.getMessage(streamName, { seq: sequence });
    const position = positionOf(message?.header);
    if (message === null || position === undefined || position === 0n) continue;
    const messages = (await kept.read(position - 1n, 1)).rows.filter(({ id }) => id === position);
    if (messages.length === 0 && mayBeTrimmed(position, cursor)) return position;
    const place = messages.findIndex(({ eventId }) => eventId === idIn(message.header));
    if (place >= 0) return place === messages.length - 1 ? position : position - 1n;
  }
  return undefined;
}

/**
 * A row that is gone cannot be compared. Only rows up to the cursor are ever trimmed, and to go back to one of them is safe even
 * if somebody made it up: it costs repetitions. At the cursor itself it means that nothing up to there is kept any more.
 */
function mayBeTrimmed(position: bigint, cursor: bigint): boolean {
  return position <= cursor;
}

// Where the relay goes on: the saved cursor says how far it was sure to be, the end of the stream says how far it was.
import type { Log } from "../../ports/log.ts";
import type { NatsLink } from "./connect.ts";
import { idHeader, positionOf } from "./wire.ts";

/** Foreign messages may lie at the end of the stream; so many are looked through for one of ours. */
const lookBackMax = 2_000;

/** The newest row that this relay itself has seen stored. */
export interface Stored {
  readonly position: bigint;
  readonly eventId: string;
  readonly sequence: number;
}

interface Page {
  readonly rows: readonly { readonly id: bigint; readonly eventId: string }[];
}

export async function resumePosition(
  link: NatsLink,
  streamName: string,
  cursor: bigint,
  stored: Stored | undefined,
  read: (after: bigint, limit: number) => Promise<Page>,
  log: Log,
): Promise<bigint> {
  const { state } = await link.manager.streams.info(streamName);
  if (state.last_seq === 0) {
    if (cursor > 0n) log.warn("the NATS stream is new; everything that the outbox keeps is published again", {});
    return 0n;
  }
  // Streams lose their end, never their middle: while our newest message is there, so is everything before it.
  if (stored !== undefined && (await isStill(link, streamName, stored))) return stored.position;
  const newest = await newestOfOurs(link, streamName, state.first_seq, state.last_seq);
  if (newest === undefined) {
    log.warn("the end of the stream holds no message of ours; the relay trusts its cursor", { cursor: String(cursor) });
    return cursor;
  }
  if (newest.position < cursor) {
    // Usually only numbers of rolled-back transactions lie between, and reading them again finds nothing.
    log.info("the relay reads again behind the end of the stream", {
      cursor: String(cursor),
      end: String(newest.position),
    });
    return newest.position;
  }
  if (newest.position === cursor) return cursor;
  // The stream is ahead of the cursor: a crash before saving, or a stream that belongs to another database's outbox.
  const { rows } = await read(newest.position - 1n, 1);
  const same = rows[0]?.id === newest.position && rows[0].eventId === newest.eventId;
  return same ? newest.position : cursor;
}

async function isStill(link: NatsLink, streamName: string, stored: Stored): Promise<boolean> {
  const message = await link.manager.streams.getMessage(streamName, { seq: stored.sequence });
  return message?.header.get(idHeader) === stored.eventId;
}

async function newestOfOurs(
  link: NatsLink,
  streamName: string,
  first: number,
  last: number,
): Promise<{ readonly position: bigint; readonly eventId: string } | undefined> {
  for (let sequence = last; sequence >= first && sequence > last - lookBackMax; sequence--) {
    const message = await link.manager.streams.getMessage(streamName, { seq: sequence });
    const position = positionOf(message?.header);
    if (message !== null && position !== undefined) return { position, eventId: message.header.get(idHeader) };
  }
  return undefined;
}

// The lossy path for marks: conflated to the newest per key, sent in batches past the outbox. What the connection cannot
// take is dropped and counted, because the next mark replaces it anyway.

import { z } from "zod";
import { Defect } from "../../../contracts/src/fault.ts";
import { fromMicroseconds } from "../../../contracts/src/instant.ts";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import type { Subject } from "../../../contracts/src/subject.ts";
import type { BusEvent } from "../../../ports/bus.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Log } from "../../../ports/log.ts";
import type { Counter } from "../../../ports/metrics.ts";
import type { Random } from "../../../ports/random.ts";
import type { CancelTimer, Timers } from "../../../ports/timers.ts";
import { decodeRow, type SubjectByName } from "./bus-decode.ts";
import { encodeEvent } from "./outbox-insert.ts";
import { messageBytesMax } from "./wake.ts";

const batchMs = 50;

/** [id, subject, key, at, source, payload as JSON text]: short, because a message is small. */
const wireEvent = z.tuple([z.string(), z.string(), z.string(), z.number().int(), z.string(), z.string()]);
const wireBatch = z.array(wireEvent);

interface Broadcaster {
  broadcast<Payload>(subject: Subject<Payload>, payload: Payload): void;
  close(): void;
}

export function createBroadcaster(options: {
  readonly send: (text: string) => boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly timers: Timers;
  readonly log: Log;
  readonly source: string;
  readonly dropped: Counter;
}): Broadcaster {
  const { clock, random, timers, log, source, dropped } = options;
  const newest = new Map<string, string>();
  let cancel: CancelTimer | undefined;

  function flush(): void {
    cancel = undefined;
    const texts = [...newest.values()];
    newest.clear();
    for (const batch of batches(texts)) {
      if (!options.send(`[${batch.join(",")}]`)) dropped.add(batch.length, { policy: "broadcast" });
    }
  }

  return {
    broadcast(subject, payload) {
      if (subject.delivery !== "conflated") {
        throw new Defect(`${subject.name} is durable: it is published by a unit of work, never broadcast`);
      }
      const entry = encodeEvent(subject, payload, { eventId: random.uuid(), at: clock.now(), source });
      const json = entry.payload.toString("utf8");
      const text = JSON.stringify([entry.eventId, entry.subject, entry.key, entry.at, source, json]);
      if (Buffer.byteLength(text) + 2 > messageBytesMax) {
        dropped.add(1, { policy: "broadcast" });
        log.warn("broadcast too large", { subject: subject.name, key: entry.key });
        return;
      }
      newest.set(`${subject.name} ${entry.key}`, text);
      cancel ??= timers.after(batchMs, flush);
    },
    close() {
      cancel?.();
      newest.clear();
    },
  };
}

function batches(texts: readonly string[]): readonly (readonly string[])[] {
  const all: string[][] = [];
  let current: string[] = [];
  let bytes = 2;
  for (const text of texts) {
    const more = Buffer.byteLength(text) + 1;
    if (current.length > 0 && bytes + more > messageBytesMax) {
      all.push(current);
      current = [];
      bytes = 2;
    }
    current.push(text);
    bytes += more;
  }
  if (current.length > 0) all.push(current);
  return all;
}

/** The events of a message that arrived; what does not decode is dropped, as a mark may be. */
export function decodeBroadcast(
  text: string,
  subjectByName: SubjectByName,
  log: Log,
): readonly (() => BusEvent | undefined)[] {
  const batch = wireBatch.safeParse(parseOrUndefined(text));
  if (!batch.success) {
    log.warn("broadcast not understood", { bytes: text.length });
    return [];
  }
  return batch.data.map(([eventId, subject, key, at, source, payload]) => () => {
    const decoded = decodeRow({ eventId, subject, key, at: fromMicroseconds(at), source, payload }, subjectByName);
    return "event" in decoded ? decoded.event : undefined;
  });
}

function parseOrUndefined(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    // Anybody with access to the database may send on the channel; what is not ours is not an error of ours.
    return undefined;
  }
}

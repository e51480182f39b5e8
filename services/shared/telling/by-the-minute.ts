// What may come a thousand times a second is reported by the minute: the first of a stream at once, what follows when its minute ends, with a count and the first ten ids.
import { messageOf } from "../../../contracts/src/fault.ts";
import type { ServicePorts } from "../service.ts";

export interface Together {
  readonly count: number;
  /** Each once, as long as there are no more than ten. */
  readonly ids: readonly string[];
}

interface ByTheMinute<Heard> {
  /** One more of a stream; `heard` is what the newest of it was. */
  heard(stream: string, id: string, heard: Heard): void;
  /** Reports what waits for the end of its minute, and resolves when all reports are out. */
  stop(): Promise<void>;
}

const windowMs = 60_000;
const idsMax = 10;
/** Sources are tokens and logins, and those are few. What is beyond is reported under one name. */
const streamsMax = 1_000;
const beyond = "others";

interface Stream<Heard> {
  count: number;
  ids: Set<string>;
  newest: Heard;
  cancel: () => void;
}

export function byTheMinute<Heard>(
  { timers, log }: Pick<ServicePorts, "timers" | "log">,
  report: (heard: Heard, together: Together) => void | Promise<void>,
): ByTheMinute<Heard> {
  /** Those of which the last minute heard. */
  const streams = new Map<string, Stream<Heard>>();
  let reporting: Promise<unknown> = Promise.resolve();

  async function reported(name: string, { newest, count, ids }: Stream<Heard>): Promise<void> {
    try {
      await report(newest, { count, ids: [...ids] });
    } catch (thrown) {
      log.warn("what was heard could not be reported", { stream: name, reason: messageOf(thrown) });
      // The end of the minute tries again, with those that no report had.
      const since = streams.get(name);
      if (since === undefined) return;
      since.count += count;
      since.ids = new Set([...ids, ...since.ids].slice(0, idsMax));
    }
  }

  function begin(name: string, stream: Stream<Heard>): void {
    const cancel = timers.after(windowMs, () => endWindow(name));
    streams.set(name, { ...stream, count: 0, ids: new Set(), cancel });
    reporting = Promise.all([reporting, reported(name, stream)]);
  }

  function endWindow(name: string): void {
    const stream = streams.get(name);
    streams.delete(name);
    if (stream !== undefined && stream.count > 0) begin(name, stream);
  }

  return {
    heard(stream, id, heard) {
      const name = streams.has(stream) || streams.size < streamsMax ? stream : beyond;
      const known = streams.get(name);
      if (known === undefined) {
        begin(name, { count: 1, ids: new Set([id]), newest: heard, cancel: () => undefined });
        return;
      }
      known.count += 1;
      known.newest = heard;
      if (known.ids.size < idsMax) known.ids.add(id);
    },
    async stop() {
      for (const { cancel } of streams.values()) cancel();
      const waiting = [...streams].filter(([, { count }]) => count > 0);
      streams.clear();
      await Promise.all([reporting, ...waiting.map(([name, stream]) => reported(name, stream))]);
    },
  };
}

// Events that another source may say, told together: one alarm for each source and thing at once, and from then on one a minute with how many came and the first
// ten ids. Nothing of them counts, so nothing waits and nothing is put aside.
import { alarms } from "../../../contracts/src/codes/alarms.ts";
import { messageOf } from "../../../contracts/src/fault.ts";
import { format, type Instant, millisecondsBetween } from "../../../contracts/src/instant.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { line } from "../../shared/one-line.ts";
import type { ServicePorts } from "../../shared/service.ts";

interface HeardOfAnother {
  readonly source: string;
  /** What it spoke of, such as `values of alpha`. */
  readonly about: string;
  readonly id: string;
  readonly code: string;
  readonly sentence: string;
}

export interface NotYours {
  heard(event: HeardOfAnother): void;
  /** Waits for what is being told. */
  stop(): Promise<void>;
}

const reportEveryMs = 60_000;
const idsMax = 10;
/** Sources and things that are told apart; what is beyond is told under one name. */
const streamsMax = 1_000;

interface Stream {
  reportedAt: Instant | undefined;
  count: number;
  ids: string[];
}

export function createNotYours({ store, clock, log }: Pick<ServicePorts, "store" | "clock" | "log">): NotYours {
  const streams = new Map<string, Stream>();
  let reporting: Promise<void> = Promise.resolve();

  function streamOf(name: string): Stream {
    const known = streams.get(name) ?? { reportedAt: undefined, count: 0, ids: [] };
    streams.set(name, known);
    return known;
  }

  async function report(stream: Stream, about: string, { source, code, sentence }: HeardOfAnother): Promise<void> {
    const { count, ids } = stream;
    const said = `${source} published ${count} ${count === 1 ? "event" : "events"} of ${about} (${ids.join(", ")}): ${code}. ${sentence}`;
    Object.assign(stream, { reportedAt: clock.now(), count: 0, ids: [] });
    const facts = { about: `${source}: ${about}`, source, count, ids: ids.join(" ") };
    const level = alarms.EVENT_REFUSED.level;
    const raised = { code: "EVENT_REFUSED", level, service: "riskengine", sentence: line(said, 2_000), facts } as const;
    try {
      await store.transact("risk.alarm", (unit) =>
        unit.events.publish(subjects.alarmRaised, { ...raised, at: format(clock.now()) }),
      );
    } catch (thrown) {
      log.warn("an alarm could not be published", { code, about, reason: messageOf(thrown) });
      // The next event tries again, with those that nobody was told of.
      Object.assign(stream, {
        reportedAt: undefined,
        count: stream.count + count,
        ids: [...ids, ...stream.ids].slice(0, idsMax),
      });
    }
  }

  return {
    heard(event) {
      const { source, about, id } = event;
      const isKnown = streams.has(`${source} ${about}`);
      const name = isKnown || streams.size < streamsMax ? `${source} ${about}` : "others";
      const stream = streamOf(name);
      stream.count += 1;
      if (stream.ids.length < idsMax) stream.ids.push(line(id, 128));
      if (
        stream.reportedAt !== undefined &&
        Math.abs(millisecondsBetween(stream.reportedAt, clock.now())) < reportEveryMs
      )
        return;
      reporting = Promise.all([reporting, report(stream, about, event)]).then(() => undefined);
    },
    stop: () => reporting,
  };
}

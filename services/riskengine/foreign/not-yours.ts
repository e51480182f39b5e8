// Events that another source may say, reported by the minute for each source and thing. Nothing of them counts, so nothing waits and nothing is put aside.
import { alarms } from "../../../contracts/src/codes/alarms.ts";
import { format } from "../../../contracts/src/instant.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { line } from "../../shared/one-line.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { byTheMinute, type Together } from "../../shared/telling/by-the-minute.ts";

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
  /** Resolves when all reports are out. */
  stop(): Promise<void>;
}

export function createNotYours(ports: Pick<ServicePorts, "store" | "clock" | "timers" | "log">): NotYours {
  const { store, clock } = ports;

  async function report(
    { source, about, code, sentence }: HeardOfAnother,
    { count, ids: known }: Together,
  ): Promise<void> {
    const ids = known.map((id) => line(id, 128));
    const said = `${source} published ${count} ${count === 1 ? "event" : "events"} of ${about} (${ids.join(", ")}): ${code}. ${sentence}`;
    const facts = { about: `${source}: ${about}`, source, count, ids: ids.join(" ") };
    const { level } = alarms.EVENT_REFUSED;
    const raised = { code: "EVENT_REFUSED", level, service: "riskengine", sentence: line(said, 2_000), facts } as const;
    await store.transact("risk.alarm", (unit) =>
      unit.events.publish(subjects.alarmRaised, { ...raised, at: format(clock.now()) }),
    );
  }

  const reports = byTheMinute<HeardOfAnother>(ports, report);
  return { heard: (event) => reports.heard(`${event.source} ${event.about}`, event.id, event), stop: reports.stop };
}

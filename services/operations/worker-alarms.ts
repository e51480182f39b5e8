// Alarms of the workers beside operations: published through the store, so that they are recorded and heard like every event, once when a
// condition begins and again only after it has ended in between.
import { type AlarmCode, alarms as registry } from "../../contracts/src/codes/alarms.ts";
import { Defect, messageOf } from "../../contracts/src/fault.ts";
import { format } from "../../contracts/src/instant.ts";
import type { AlarmRaised } from "../../contracts/src/records/platform.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { line } from "../shared/one-line.ts";
import type { ServicePorts } from "../shared/service.ts";

export interface WorkerAlarms {
  /** The condition holds; call it as often as it is seen. `about` tells apart what the same code can be raised about. */
  raise(code: AlarmCode, about: string, sentence: string, facts?: Facts): Promise<void>;
  /** The condition has ended. */
  clear(code: AlarmCode, about: string): void;
}

type Facts = Readonly<Record<string, string | number>>;

/** More conditions at once than this are not distinguished any more: all are forgotten and may be reported again. */
const raisedMax = 10_000;

export function alarmOf(code: AlarmCode, sentence: string, facts: Facts, at: string): AlarmRaised {
  return { code, level: registry[code].level, service: "operations", sentence: line(sentence, 2_000), facts, at };
}

export function createWorkerAlarms(ports: Pick<ServicePorts, "store" | "clock" | "log" | "crash">): WorkerAlarms {
  const raised = new Set<string>();
  return {
    async raise(code, about, sentence, facts = {}) {
      const key = `${code} ${about}`;
      if (raised.has(key)) return;
      if (raised.size >= raisedMax) raised.clear();
      raised.add(key);
      ports.log.warn("an alarm was raised", { code, about, sentence });
      const alarm = alarmOf(code, sentence, { about, ...facts }, format(ports.clock.now()));
      try {
        await ports.store.transact("workers.alarm", (unit) => unit.events.publish(subjects.alarmRaised, alarm));
      } catch (thrown) {
        if (thrown instanceof Defect) ports.crash.die(thrown);
        // It counts as not raised, and the next sight of it tries again.
        raised.delete(key);
        ports.log.warn("an alarm could not be published", { code, about, reason: messageOf(thrown) });
      }
    },
    clear: (code, about) => void raised.delete(`${code} ${about}`),
  };
}

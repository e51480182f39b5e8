// The engine's own alarms: published through the store, so that they are recorded and heard like every event, once when a condition
// begins and again only after it has ended in between.
import { type AlarmCode, alarms as registry } from "../../contracts/src/codes/alarms.ts";
import { Defect, messageOf } from "../../contracts/src/fault.ts";
import { format } from "../../contracts/src/instant.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { line } from "../shared/one-line.ts";
import type { ServicePorts } from "../shared/service.ts";

export interface Alarms {
  /** The condition holds; call it as often as it is seen. `about` tells apart what the same code can be raised about. */
  raise(code: AlarmCode, about: string, sentence: string): void;
  /** The condition has ended. */
  clear(code: AlarmCode, about: string): void;
  /** Waits for what is being published. */
  stop(): Promise<void>;
}

/** More conditions at once than this are not distinguished any more: the oldest are forgotten and may be reported again. */
const raisedMax = 10_000;

export function createAlarms(ports: Pick<ServicePorts, "store" | "clock" | "log" | "crash">): Alarms {
  const raised = new Set<string>();
  let publishing: Promise<unknown> = Promise.resolve();

  /** An alarm that could not be published counts as not raised, and the next sight of it tries again. */
  async function publish(key: string, code: AlarmCode, about: string, sentence: string): Promise<void> {
    const reported = {
      code,
      level: registry[code].level,
      service: "riskengine",
      sentence: line(sentence, 2_000),
      facts: { about },
      at: format(ports.clock.now()),
    };
    try {
      await ports.store.transact("risk.alarm", (unit) => unit.events.publish(subjects.alarmRaised, reported));
    } catch (thrown) {
      if (thrown instanceof Defect) ports.crash.die(thrown);
      raised.delete(key);
      ports.log.warn("an alarm could not be published", { code, about, reason: messageOf(thrown) });
    }
  }

  return {
    raise(code, about, sentence) {
      const key = `${code} ${about}`;
      if (raised.has(key)) return;
      if (raised.size >= raisedMax) for (const oldest of [...raised].slice(0, raisedMax / 10)) raised.delete(oldest);
      raised.add(key);
      ports.log.warn("an alarm was raised", { code, about, sentence });
      publishing = Promise.all([publishing, publish(key, code, about, sentence)]);
    },
    clear(code, about) {
      raised.delete(`${code} ${about}`);
    },
    stop: async () => {
      await publishing;
    },
  };
}

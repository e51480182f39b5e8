// The audit log's own alarms: published through the store, so that they are heard, and recorded, like every event. A condition is reported once.
import { type AlarmCode, alarms as registry } from "../../../../contracts/src/codes/alarms.ts";
import { Defect, messageOf } from "../../../../contracts/src/fault.ts";
import { format } from "../../../../contracts/src/instant.ts";
import { subjects } from "../../../../contracts/src/subjects.ts";
import type { ServicePorts } from "../../../shared/service.ts";

export type AlarmFacts = Readonly<Record<string, string | number>>;

export interface AuditAlarms {
  /** Call it as often as it is seen. */
  raise(code: AlarmCode, sentence: string, facts?: AlarmFacts): void;
  clear(code: AlarmCode): void;
  /** Waits for what is being published. */
  stop(): Promise<void>;
}

const sentenceCharactersMax = 2_000;
const unprintable = /[\p{Cc}\u2028\u2029]/gu;

export function createAuditAlarms(ports: Pick<ServicePorts, "store" | "clock" | "log" | "crash">): AuditAlarms {
  const raised = new Set<AlarmCode>();
  let publishing: Promise<unknown> = Promise.resolve();

  async function publish(code: AlarmCode, sentence: string, facts: AlarmFacts): Promise<void> {
    const reported = {
      code,
      level: registry[code].level,
      service: "operations",
      sentence: sentence.replaceAll(unprintable, " ").slice(0, sentenceCharactersMax),
      facts: { ...facts, about: "audit" },
      at: format(ports.clock.now()),
    };
    try {
      await ports.store.transact("audit.alarm", (unit) => unit.events.publish(subjects.alarmRaised, reported));
    } catch (thrown) {
      if (thrown instanceof Defect) ports.crash.die(thrown);
      // Not reported is not raised: the next sight of it tries again.
      raised.delete(code);
      ports.log.warn("an alarm could not be published", { code, reason: messageOf(thrown) });
    }
  }

  return {
    raise(code, sentence, facts = {}) {
      if (raised.has(code)) return;
      raised.add(code);
      ports.log.error("an alarm was raised", { code, sentence });
      publishing = Promise.all([publishing, publish(code, sentence, facts)]);
    },
    clear: (code) => void raised.delete(code),
    stop: async () => {
      await publishing;
    },
  };
}

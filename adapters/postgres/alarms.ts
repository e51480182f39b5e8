// Alarms of the transport itself: published through the store, so that they are recorded and heard like every event, once
// when a condition begins and again only after it has ended in between.

import { type AlarmCode, alarms as registry } from "../../contracts/src/codes/alarms.ts";
import { messageOf } from "../../contracts/src/fault.ts";
import { format } from "../../contracts/src/instant.ts";
import type { AlarmRaised } from "../../contracts/src/records/platform.ts";
import type { Subject } from "../../contracts/src/subject.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { Store } from "../../ports/store.ts";

export interface Alarms {
  /** The condition holds; call it as often as it is seen. `about` tells apart what the same code can be raised about. */
  raise(code: AlarmCode, about: string, sentence: string): void;
  /** The condition has ended. */
  clear(code: AlarmCode, about: string): void;
}

/** For who publishes no alarms. */
export const noAlarms: Alarms = { raise: () => undefined, clear: () => undefined };

const sentenceLengthMax = 2_000;

export function createAlarms(options: {
  readonly store: Store;
  readonly subject: Subject<AlarmRaised>;
  readonly clock: Clock;
  readonly log: Log;
  /** The service in whose name they are raised. */
  readonly source: string;
}): Alarms {
  const { store, subject, clock, log, source } = options;
  const raised = new Set<string>();

  /** Never rejects: an alarm that could not be published counts as not raised, and the next sight of it tries again. */
  async function publish(key: string, code: AlarmCode, about: string, sentence: string): Promise<void> {
    const reported = {
      code,
      level: registry[code].level,
      service: source,
      sentence: sentence.replaceAll(/[\p{Cc}\u2028\u2029]/gu, " ").slice(0, sentenceLengthMax),
      facts: { about },
      at: format(clock.now()),
    };
    try {
      await store.transact("bus.alarm", (unit) => unit.events.publish(subject, reported));
    } catch (thrown) {
      raised.delete(key);
      log.warn("an alarm could not be published", { code, about, reason: messageOf(thrown) });
    }
  }

  return {
    raise(code, about, sentence) {
      const key = `${code} ${about}`;
      if (raised.has(key)) return;
      raised.add(key);
      void publish(key, code, about, sentence);
    },
    clear(code, about) {
      raised.delete(`${code} ${about}`);
    },
  };
}

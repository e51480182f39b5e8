// Since when things stand that a job looks for again and again, over restarts: what the job before this one saw first is read once, and what begins or
// ends is written when it does. A store in trouble makes nobody wait: the job goes on with what this process saw, and writes it at the next look.
import { messageOf } from "../../contracts/src/fault.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import type { ServicePorts } from "../shared/service.ts";

interface FirstSeen {
  /** What stands now; gives since when each of them has stood. Beyond the bound they stand since now. */
  note(abouts: Iterable<string>, at: Instant): Promise<ReadonlyMap<string, Instant>>;
}

/** As many of one kind are kept; a platform with more has other troubles. */
const keptMax = 1_000;
const aboutLengthMax = 500;

export function createFirstSeen(ports: Pick<ServicePorts, "store" | "log">, kind: string): FirstSeen {
  const { store, log } = ports;
  /** As far as the store has it; undefined until it was read. */
  let written: ReadonlyMap<string, Instant> | undefined;
  let standing: ReadonlyMap<string, Instant> = new Map();

  async function write(): Promise<void> {
    const known = written ?? (await store.transact("workers.seen", (unit) => unit.firstSeen.all(kind)));
    written = known;
    // Until it was read, what this process saw first may be younger than what the one before it did.
    standing = new Map([...standing].map(([about, at]) => [about, earlier(known.get(about), at)]));
    const begun = new Map([...standing].filter(([about]) => !known.has(about)));
    const ended = [...known.keys()].filter((about) => !standing.has(about));
    if (begun.size === 0 && ended.length === 0) return;
    const kept = standing;
    await store.transact("workers.seen", async (unit) => {
      if (ended.length > 0) await unit.firstSeen.remove(kind, ended);
      if (begun.size > 0) await unit.firstSeen.put(kind, begun);
    });
    written = kept;
  }

  return {
    async note(abouts, at) {
      const names = [...new Set([...abouts].map((about) => about.slice(0, aboutLengthMax)))].slice(0, keptMax);
      standing = new Map(names.map((about) => [about, standing.get(about) ?? written?.get(about) ?? at]));
      try {
        await write();
      } catch (thrown) {
        log.warn("since when something stands could not be kept", { kind, reason: messageOf(thrown) });
      }
      return standing;
    },
  };
}

function earlier(one: Instant | undefined, other: Instant): Instant {
  return one !== undefined && one < other ? one : other;
}

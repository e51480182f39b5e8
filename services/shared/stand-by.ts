// Waits until the services of this process are free: until no other group holds a lease for them. It takes one short question a second.
//
//  1. A lease that its holder does not renew any more is over when it runs out, and by our own time when the holder's clock ran ahead of ours.
//  2. A store that does not answer makes nothing free: whoever is at work may be at work.
import { messageOf } from "../../contracts/src/fault.ts";
import type { Instance } from "../../ports/store.ts";
import { otherAtWork, type ProcessGroup } from "./process-group.ts";
import type { ServicePorts } from "./service.ts";
import { pollUntil } from "./waiting.ts";

const lookEveryMs = 1_000;
/** A lease is renewed every second and lasts five. */
const unchangedLooksMax = 8;

export interface StandByOptions extends Pick<ServicePorts, "store" | "clock" | "timers" | "log"> {
  readonly group: ProcessGroup;
  readonly services: readonly string[];
}

/** Who is at work now; undefined when nobody is. */
export async function whoIsAtWork({ store, clock, services, group }: StandByOptions): Promise<Instance | undefined> {
  const alive = await store.transact("standby.look", (unit) => unit.instances.alive(clock.now()));
  return otherAtWork(alive, services, group);
}

interface StandBy {
  /** Who was last seen at work. */
  holder(): Instance;
  /** Resolves when the services are free, or when the signal says that nobody waits any more. */
  untilFree(signal: AbortSignal): Promise<void>;
}

export function standBy(options: StandByOptions, first: Instance): StandBy {
  const { timers, log } = options;
  let holder = first;
  let unchangedLooks = 0;
  let isTroubled = false;

  /** True when they are free. */
  async function look(): Promise<true | undefined> {
    try {
      const found = await whoIsAtWork(options);
      if (found === undefined) return true;
      const isSame = found.incarnation === holder.incarnation && found.leaseUntil === holder.leaseUntil;
      unchangedLooks = isSame ? unchangedLooks + 1 : 0;
      holder = found;
      isTroubled = false;
      return unchangedLooks > unchangedLooksMax ? true : undefined;
    } catch (error) {
      unchangedLooks = 0;
      if (!isTroubled) log.warn("who is at work cannot be read", { error: messageOf(error) });
      isTroubled = true;
      return undefined;
    }
  }

  return {
    holder: () => holder,
    async untilFree(signal) {
      await pollUntil({ timers, everyMs: lookEveryMs, signal }, look);
    },
  };
}

// Declares a process lost when its lease ran out without a clean end, so that a kill -9 is an event and not a silence; and raises an alarm for a service
// that stays away, however it ended.
import { Defect, messageOf } from "../../contracts/src/fault.ts";
import { format, fromMicroseconds, type Instant, millisecondsBetween } from "../../contracts/src/instant.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Instance } from "../../ports/store.ts";
import type { ServicePorts } from "../shared/service.ts";
import type { WorkerAlarms } from "./worker-alarms.ts";

const lookEveryMs = 1_000;
/** A service that is started again is back long before. */
const awayMsMax = 10_000;

export interface LeaseWatch {
  stop(): Promise<void>;
}

type Ports = Pick<ServicePorts, "store" | "clock" | "timers" | "log" | "crash">;

export function watchLeases(ports: Ports, alarms: WorkerAlarms): LeaseWatch {
  const ending = new AbortController();
  let troubled = false;
  /** When each service was last seen to hold a lease. */
  const seenAt = new Map<string, Instant>();
  const watching = watch();

  async function watch(): Promise<void> {
    while (!ending.signal.aborted) {
      await ports.timers.sleep(lookEveryMs, ending.signal);
      if (ending.signal.aborted) return;
      try {
        await lookOnce();
        if (troubled) ports.log.info("the leases can be read again");
        troubled = false;
      } catch (error) {
        if (error instanceof Defect) ports.crash.die(error);
        if (!troubled) ports.log.warn("the leases cannot be read", { error: messageOf(error) });
        troubled = true;
      }
    }
  }

  async function lookOnce(): Promise<void> {
    const at = ports.clock.now();
    const all = await ports.store.transact("leases.look", (unit) => unit.instances.alive(fromMicroseconds(0)), {
      isOneStatement: true,
    });
    const alive = all.filter(({ leaseUntil }) => leaseUntil > at);
    // Nearly always there is nothing to write.
    const lost = alive.length === all.length ? [] : await declareLost(at);
    for (const { service, host, pid } of lost) ports.log.error("a service process was lost", { service, host, pid });
    for (const { service } of alive) seenAt.set(service, at);
    for (const [service, seen] of seenAt) await judge(service, seen, at);
  }

  function declareLost(at: Instant): Promise<readonly Instance[]> {
    return ports.store.transact("leases.look", async (unit) => {
      const instances = await unit.instances.declareLost(at);
      for (const { service, incarnation, host, pid } of instances) {
        await unit.events.publish(subjects.serviceLost, { service, incarnation, host, pid, at: format(at) });
      }
      return instances;
    });
  }

  async function judge(service: string, seen: Instant, at: Instant): Promise<void> {
    if (millisecondsBetween(seen, at) <= awayMsMax) {
      alarms.clear("SERVICE_LOST", service);
      return;
    }
    const sentence = `The service ${service} is down since ${format(seen)}: nothing of it holds a lease. The others go on. ctl doctor says more, and the supervisor's log why it does not start.`;
    await alarms.raise("SERVICE_LOST", service, sentence);
  }

  return {
    stop: async () => {
      ending.abort();
      await watching;
    },
  };
}

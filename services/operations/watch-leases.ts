// Declares a process lost when its lease ran out without a clean end, so that a kill -9 is an event and not a silence; and raises an alarm for a service
// that stays away, however it ended.
import { format, fromMicroseconds, type Instant, millisecondsBetween } from "../../contracts/src/instant.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Instance } from "../../ports/store.ts";
import { type Loop, startLoop } from "../shared/loop.ts";
import type { ServicePorts } from "../shared/service.ts";
import type { WorkerAlarms } from "./worker-alarms.ts";

const lookEveryMs = 1_000;
/** A service that is started again is back long before. */
const awayMsMax = 10_000;

type Ports = Pick<ServicePorts, "store" | "clock" | "timers" | "log" | "crash">;

export function watchLeases(ports: Ports, alarms: WorkerAlarms): Loop {
  /** When each service was last seen to hold a lease. */
  const seenAt = new Map<string, Instant>();

  async function run(): Promise<number> {
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
    return lookEveryMs;
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

  const what = { failing: "the leases cannot be read", working: "the leases can be read again" };
  return startLoop({ ports, what, firstAfterMs: lookEveryMs, run, troubleMsMax: lookEveryMs });
}

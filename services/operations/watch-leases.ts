// Declares a process lost when its lease ran out without a clean end, so that a kill -9 is an event and not a silence.
import { Defect, messageOf } from "../../contracts/src/fault.ts";
import { format } from "../../contracts/src/instant.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { ServicePorts } from "../shared/service.ts";

const lookEveryMs = 1_000;

export interface LeaseWatch {
  stop(): Promise<void>;
}

export function watchLeases(ports: ServicePorts): LeaseWatch {
  const ending = new AbortController();
  let troubled = false;
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
    const lost = await ports.store.transact("leases.look", async (unit) => {
      const at = ports.clock.now();
      const instances = await unit.instances.declareLost(at);
      for (const { service, incarnation, host, pid } of instances) {
        await unit.events.publish(subjects.serviceLost, { service, incarnation, host, pid, at: format(at) });
      }
      return instances;
    });
    for (const { service, host, pid } of lost) ports.log.error("a service process was lost", { service, host, pid });
  }

  return {
    stop: async () => {
      ending.abort();
      await watching;
    },
  };
}

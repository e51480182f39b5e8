// Every process of a service, and of the gateway, holds a lease that it renews once a second. Whoever asks "which engines are alive" (a halt that
// wants to be acknowledged, a health page) asks the leases, and a process that was killed drops out within five seconds.

import { Defect } from "../../contracts/src/fault.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import { format, plusMilliseconds } from "../../contracts/src/instant.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Instance } from "../../ports/store.ts";
import { startLoop } from "./loop.ts";
import { incarnationIn, type ProcessGroup, takenOverBy } from "./process-group.ts";
import type { Lease, ServiceName, ServicePorts } from "./service.ts";

/** What a lease needs; the gateway, which is no service, has it as well. */
type LeasePorts = Pick<ServicePorts, "clock" | "store" | "log" | "random" | "timers" | "crash">;

const leaseMs = 5_000;
const renewEveryMs = 1_000;

interface ProcessIdentity {
  readonly host: string;
  readonly pid: number;
  /** Where several data folders may use one database: which of them this is, and the services that it does. */
  readonly group?: ProcessGroup | undefined;
  readonly services?: readonly string[] | undefined;
}

/** It ends; whoever starts it again finds the other at work, and stands by. */
function takenOver(service: string, { service: other, host, pid }: Instance): Defect {
  return new Defect(
    `${other} of another data folder (${host}, process ${pid}) has taken over, so this ${service} ends`,
  );
}

export async function takeLease(
  service: ServiceName | "gateway" | "bots",
  process: ProcessIdentity,
  ports: LeasePorts,
): Promise<Lease> {
  const { clock, store } = ports;
  const { group, services = [service] } = process;
  const incarnation = group === undefined ? ports.random.uuid() : incarnationIn(group, ports.random.uuid());
  const startedAt = clock.now();
  const announcement = () => ({
    service,
    incarnation,
    host: process.host,
    pid: process.pid,
    at: format(clock.now()),
  });
  const register = (leaseUntil: Instant): Promise<void> =>
    store.transact("lease.register", async (unit) => {
      const { host, pid } = process;
      await unit.instances.register({ service, incarnation, host, pid, startedAt, leaseUntil });
      await unit.events.publish(subjects.serviceStarted, announcement());
    });
  await register(plusMilliseconds(clock.now(), leaseMs));

  let renewedUntil: Instant = plusMilliseconds(startedAt, leaseMs);
  let since = clock.now();

  async function renew(): Promise<number> {
    const leaseUntil = plusMilliseconds(clock.now(), leaseMs);
    if (group !== undefined) {
      const alive = await store.transact("lease.look", (unit) => unit.instances.alive(clock.now()), {
        isOneStatement: true,
      });
      const winner = takenOverBy(alive, services, group);
      if (winner !== undefined) throw takenOver(service, winner);
    }
    const isKnown = await store.transact("lease.renew", (unit) => unit.instances.renew(incarnation, leaseUntil), {
      isOneStatement: true,
    });
    // Declared lost while the store was out of reach: this process is alive, so it says so again.
    if (!isKnown) await register(leaseUntil);
    const now = clock.now();
    if (now >= renewedUntil) since = now;
    renewedUntil = leaseUntil;
    return renewEveryMs;
  }

  const renewal = startLoop({
    ports,
    what: { failing: "the lease cannot be renewed", working: "the lease is renewed again" },
    firstAfterMs: renewEveryMs,
    run: renew,
    troubleMsMax: renewEveryMs,
  });

  return {
    incarnation,
    health: () =>
      clock.now() < renewedUntil
        ? { status: "ok" }
        : { status: "failing", complaint: "the lease ran out because the store cannot be written" },
    heldSince: () => (clock.now() < renewedUntil ? since : undefined),
    retire: async () => {
      await renewal.stop();
      await store.transact("lease.retire", async (unit) => {
        await unit.instances.retire(incarnation);
        await unit.events.publish(subjects.serviceStopped, announcement());
      });
    },
  };
}

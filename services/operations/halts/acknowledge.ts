// Whether the engines know of an epoch. Only the engine that holds the writer epoch can approve, and it is the one that answers; so a halt is acknowledged
// when that engine has read it and answered whatever it decided before, or when no engine holds a lease any more. The bus is never waited for.
import { Defect, messageOf } from "../../../contracts/src/fault.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { pollUntil, within } from "../../shared/waiting.ts";

type Ports = Pick<ServicePorts, "store" | "clock" | "timers" | "haltsConfirmer">;

const askAgainMs = 100;
/** Leases are read only when the engine does not answer at once. */
const leaseLookMs = 250;

/** What proves that every live engine blocks, or what is missing. */
export type Acknowledgement =
  | { readonly proof: string }
  /** `patienceMs`: how long that may last before it alarms, where it is not the usual time. */
  | { readonly complaint: string; readonly patienceMs?: number };

/** Asks once. */
export async function askEngines(
  ports: Ports,
  epoch: number,
  settledHaltIds: readonly string[] = [],
): Promise<Acknowledgement> {
  try {
    const confirmed = await ports.haltsConfirmer.confirm(epoch, settledHaltIds);
    return { proof: `The risk engine ${confirmed.incarnation} confirmed epoch ${confirmed.epoch}.` };
  } catch (thrown) {
    if (thrown instanceof Defect) throw thrown;
    return { complaint: messageOf(thrown) };
  }
}

/** Nobody who could approve is left. */
export async function lookAtLeases({ store, clock }: Ports): Promise<Acknowledgement> {
  try {
    const alive = await store.transact("halts.look", (unit) => unit.instances.alive(clock.now()));
    const engines = alive.filter(({ service }) => service === "riskengine");
    if (engines.length === 0) return { proof: "No risk engine holds a lease." };
    return { complaint: "A risk engine holds its lease and does not answer." };
  } catch (thrown) {
    if (thrown instanceof Defect) throw thrown;
    return { complaint: messageOf(thrown) };
  }
}

/** What was announced of these is settled by the store, whatever became of it. */
interface Asked {
  readonly epoch: number;
  readonly settledHaltIds?: readonly string[];
}

/** Asks until it is acknowledged, or until that time has passed. */
export async function acknowledge(ports: Ports, asked: Asked, withinMs: number): Promise<boolean> {
  const { epoch, settledHaltIds } = asked;
  const ending = new AbortController();
  const { timers } = ports;
  const insist = (ask: () => Promise<Acknowledgement>, firstAfterMs: number): Promise<true | undefined> =>
    pollUntil({ timers, firstAfterMs, everyMs: askAgainMs, signal: ending.signal }, async () =>
      "proof" in (await ask()) ? true : undefined,
    );
  try {
    const asking = [
      insist(() => askEngines(ports, epoch, settledHaltIds), 0),
      insist(() => lookAtLeases(ports), leaseLookMs),
    ];
    return (await within(timers, withinMs, Promise.race(asking), false)) === true;
  } finally {
    ending.abort();
  }
}

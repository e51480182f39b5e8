// Tells operators of what was put aside: at once, and of what waits for its order when it has waited for a minute, because events of one order may arrive in any
// order.
import { type Instant, millisecondsBetween } from "../../../contracts/src/instant.ts";
import type { FilingRecord } from "../../../ports/filing-records.ts";
import type { ServicePorts } from "../../shared/service.ts";
import type { WorkerAlarms } from "../worker-alarms.ts";
import { tellQuarantined } from "./bring-file.ts";
import { againKey } from "./record-event.ts";

export interface QuarantineAlarms {
  quarantined(record: FilingRecord): Promise<void>;
  /** Whether what waited waits still. */
  look(): Promise<void>;
}

type QuarantinePorts = Pick<ServicePorts, "store" | "clock">;

const patienceMs = 60_000;
/** More that wait are told at once. */
const waitingMax = 1_000;

export function createQuarantineAlarms(ports: QuarantinePorts, alarms: WorkerAlarms): QuarantineAlarms {
  const waiting = new Map<string, { readonly record: FilingRecord; readonly since: Instant }>();
  const tell = (record: FilingRecord): Promise<void> => tellQuarantined({ ports, alarms }, record);
  return {
    async quarantined(record) {
      if (record.waitsFor === undefined || waiting.size >= waitingMax) return tell(record);
      if (!waiting.has(record.recordId)) waiting.set(record.recordId, { record, since: ports.clock.now() });
    },
    async look() {
      for (const [recordId, { record, since }] of waiting) {
        if (millisecondsBetween(since, ports.clock.now()) < patienceMs) continue;
        waiting.delete(recordId);
        const { regime, fundId, eventKey } = record;
        const again = await ports.store.transact("filings.look", (unit) =>
          unit.filings.ofEvent(regime, fundId, againKey(eventKey)),
        );
        if (again === undefined) await tell(record);
      }
    },
  };
}

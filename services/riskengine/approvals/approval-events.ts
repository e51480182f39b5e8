// What became of approvals, told: each expiry and each owner's word is in the journal first, and then an event, once. A crash between the two is
// made up for at the next start, from the journal's newest entries.

import { Defect, messageOf } from "../../../contracts/src/fault.ts";
import { millisecondsBetween } from "../../../contracts/src/instant.ts";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import {
  type ApprovalExpired,
  type ApprovalSent,
  approvalExpired,
  approvalSent,
} from "../../../contracts/src/records/order.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { JournalRow } from "../../../ports/risk-store.ts";
import type { UnitOfWork } from "../../../ports/store.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { transactToKnownEnd } from "../../shared/unknown-outcome.ts";

/** What an entry of the journal says of an approval. */
export type ApprovalEvent =
  | { readonly kind: "expiry"; readonly payload: ApprovalExpired }
  | { readonly kind: "sent"; readonly payload: ApprovalSent };

export interface ApprovalEvents {
  /** Resolves when it is durable; `more` is told in the same unit of work. */
  tell(event: ApprovalEvent, more?: (unit: UnitOfWork) => Promise<void>): Promise<void>;
  /** Tries again until the store takes it. */
  tellInTime(event: ApprovalEvent): void;
  /** What those entries say, unless it was told. */
  makeUp(rows: readonly JournalRow[]): void;
  /** Entries that are not told yet. */
  untold(): number;
  stop(): Promise<void>;
}

/** The name under which it is remembered what was told. */
const teller = "riskengine.approvals";
/** What was told is remembered for a day; older entries are not made up for. */
const makeUpMsMax = 20 * 3_600_000;
const retryMs = 1_000;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export const payloadOf = ({ payload }: ApprovalEvent): Uint8Array => encoder.encode(JSON.stringify(payload));

type Ports = Pick<ServicePorts, "store" | "timers" | "clock" | "log" | "crash">;

export function createApprovalEvents(ports: Ports): ApprovalEvents {
  const ending = new AbortController();
  const waiting = new Set<Promise<void>>();

  async function tell(event: ApprovalEvent, more?: (unit: UnitOfWork) => Promise<void>): Promise<void> {
    const { kind, payload } = event;
    const name = `${kind} ${payload.order_id} ${payload.at}`;
    await transactToKnownEnd(ports, "risk.approval", async (unit) => {
      if (!(await unit.handled.firstTime(teller, name))) return;
      if (kind === "expiry") await unit.events.publish(subjects.approvalExpired, payload);
      else await unit.events.publish(subjects.approvalSent, payload);
      await more?.(unit);
    });
  }

  async function insist(event: ApprovalEvent): Promise<void> {
    while (!ending.signal.aborted) {
      try {
        return await tell(event);
      } catch (thrown) {
        if (thrown instanceof Defect) ports.crash.die(thrown);
        ports.log.warn("what became of an approval could not be told yet", {
          order_id: event.payload.order_id,
          reason: messageOf(thrown),
        });
      }
      await ports.timers.sleep(retryMs, ending.signal);
    }
  }

  function tellInTime(event: ApprovalEvent): void {
    const telling = insist(event).finally(() => waiting.delete(telling));
    waiting.add(telling);
  }

  return {
    tell,
    tellInTime,
    makeUp(rows) {
      const now = ports.clock.now();
      for (const row of rows) {
        if (millisecondsBetween(row.at, now) > makeUpMsMax) continue;
        const heard: unknown = parseJson(decoder.decode(row.payload));
        if (row.kind === "expiry") tellInTime({ kind: "expiry", payload: approvalExpired.parse(heard) });
        else tellInTime({ kind: "sent", payload: approvalSent.parse(heard) });
      }
    },
    untold: () => waiting.size,
    stop: async () => {
      ending.abort();
      await Promise.all(waiting);
    },
  };
}

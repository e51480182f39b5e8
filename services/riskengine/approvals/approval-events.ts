// Publishes what became of approvals: each expiry and each owner's confirmation is in the journal first, and then an event, once. A crash between
// the two is made up for at the next start, from the journal's newest entries.
//
//  1. Events are published in the journal's order, many in one transaction and one transaction at a time: a client that stops sending leaves a
//     thousand approvals a second to expire, and whoever reads the halts or latches one must not wait for the store behind them.
//  2. At most `unauditedMax` may wait, as many as the next start makes up for.
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
  /** Resolves when it is durable; `more` is published in the same unit of work. */
  tell(event: ApprovalEvent, more: (unit: UnitOfWork) => Promise<void>): Promise<void>;
  /** Queues it; tries again until the store takes it. */
  tellInTime(event: ApprovalEvent): void;
  /** What those entries say, unless it was reported. */
  makeUp(rows: readonly JournalRow[]): void;
  /** Entries that are not reported yet. */
  unaudited(): number;
  stop(): Promise<void>;
}

/** The name under which it is remembered what was reported. */
const publisher = "riskengine.approvals";
/** What was reported is remembered for a day; older entries are not made up for. */
const makeUpMsMax = 20 * 3_600_000;
const retryMs = 1_000;
/** Events that may wait for the store; the caller keeps to it. */
export const unauditedMax = 4_096;
const transactionMax = 256;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export const payloadOf = ({ payload }: ApprovalEvent): Uint8Array => encoder.encode(JSON.stringify(payload));

type Ports = Pick<ServicePorts, "store" | "timers" | "clock" | "log" | "crash">;

export function createApprovalEvents(ports: Ports): ApprovalEvents {
  const ending = new AbortController();
  /** In the journal's order; the first ones may be on their way. */
  const queue: ApprovalEvent[] = [];
  let draining: Promise<void> | undefined;

  const publish = ({ events }: UnitOfWork, { kind, payload }: ApprovalEvent): Promise<string> =>
    kind === "expiry"
      ? events.publish(subjects.approvalExpired, payload)
      : events.publish(subjects.approvalSent, payload);

  async function tell(event: ApprovalEvent, more: (unit: UnitOfWork) => Promise<void>): Promise<void> {
    await transactToKnownEnd(ports, "risk.approval", async (unit) => {
      if (!(await unit.handled.firstTime(publisher, nameOf(event)))) return;
      await publish(unit, event);
      await more(unit);
    });
  }

  async function tellTogether(reported: readonly ApprovalEvent[]): Promise<void> {
    await transactToKnownEnd(ports, "risk.approval", async (unit) => {
      const first = await unit.handled.firstTimes(publisher, reported.map(nameOf));
      const left = new Set(first);
      for (const event of reported) if (left.delete(nameOf(event))) await publish(unit, event);
    });
  }

  /** Invariant 1. */
  async function drain(): Promise<void> {
    while (queue.length > 0 && !ending.signal.aborted) {
      const reported = queue.slice(0, transactionMax);
      try {
        await tellTogether(reported);
        queue.splice(0, reported.length);
      } catch (thrown) {
        if (thrown instanceof Defect) ports.crash.die(thrown);
        const waiting = { waiting: queue.length, order_id: reported[0]?.payload.order_id };
        ports.log.warn("what became of approvals cannot be published yet", { ...waiting, reason: messageOf(thrown) });
        await ports.timers.sleep(retryMs, ending.signal);
      }
    }
    draining = undefined;
  }

  function tellInTime(event: ApprovalEvent): void {
    queue.push(event);
    // One turn later, so that what became durable together is published together.
    draining ??= Promise.resolve().then(drain);
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
    unaudited: () => queue.length,
    stop: async () => {
      ending.abort();
      await draining;
    },
  };
}

/** The name under which it is remembered that it was published. */
const nameOf = ({ kind, payload }: ApprovalEvent): string => `${kind} ${payload.order_id} ${payload.at}`;

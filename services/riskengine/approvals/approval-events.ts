// Publishes what became of approvals and of blocks: each expiry, each owner's confirmation, each block and its end is in the journal first, and then an
// event, once; a block with its alarm. A crash between the two is made up for at the next start, from the journal's newest entries.
//
//  1. Events are published in the journal's order, many in one transaction and one transaction at a time: a client that stops sending leaves a
//     thousand approvals a second to expire, and whoever reads the halts or latches one must not wait for the store behind them.
//  2. At most `unpublishedMax` may wait, as many as the next start makes up for.
import { alarms } from "../../../contracts/src/codes/alarms.ts";
import { millisecondsBetween } from "../../../contracts/src/instant.ts";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import {
  type RiskBlock,
  type RiskBlockEnded,
  riskBlock,
  riskBlockEnded,
} from "../../../contracts/src/records/block.ts";
import {
  type ApprovalEnded,
  type ApprovalExpired,
  type ApprovalSent,
  approvalEnded,
  approvalExpired,
  approvalSent,
} from "../../../contracts/src/records/order.ts";
import type { AlarmRaised } from "../../../contracts/src/records/platform.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { JournalKind, JournalRow } from "../../../ports/risk-store.ts";
import type { UnitOfWork } from "../../../ports/store.ts";
import { startLoop } from "../../shared/loop.ts";
import { line } from "../../shared/one-line.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { transactToKnownEnd } from "../../shared/unknown-outcome.ts";

/** What an entry of the journal says of an approval or of a block. */
export type ApprovalEvent =
  | { readonly kind: "expiry"; readonly payload: ApprovalExpired }
  | { readonly kind: "sent"; readonly payload: ApprovalSent }
  | { readonly kind: "end"; readonly payload: ApprovalEnded }
  | { readonly kind: "block"; readonly payload: RiskBlock }
  | { readonly kind: "unblock"; readonly payload: RiskBlockEnded };

const kinds: ReadonlySet<string> = new Set<ApprovalEvent["kind"]>(["expiry", "sent", "end", "block", "unblock"]);

/** Whether an entry of that kind is followed by an event. */
export const isReported = (kind: JournalKind): boolean => kinds.has(kind);

export interface ApprovalEvents {
  /** Resolves when it is durable; `more` is published in the same unit of work. */
  tell(event: ApprovalEvent, more: (unit: UnitOfWork) => Promise<void>): Promise<void>;
  /** Queues it; tries again until the store takes it. */
  tellInTime(event: ApprovalEvent): void;
  /** What those entries say, unless it was reported. */
  makeUp(rows: readonly JournalRow[]): void;
  /** Entries that are not published yet. */
  unpublished(): number;
  stop(): Promise<void>;
}

/** The name under which it is remembered what was reported. */
const publisher = "riskengine.approvals";
/** What was reported is remembered for a day; older entries are not made up for. */
const makeUpMsMax = 20 * 3_600_000;
const retryMs = 1_000;
/** Events that may wait for the store; the caller keeps to it. */
export const unpublishedMax = 4_096;
const transactionMax = 256;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export const payloadOf = ({ payload }: ApprovalEvent): Uint8Array => encoder.encode(JSON.stringify(payload));

type Ports = Pick<ServicePorts, "store" | "timers" | "clock" | "log" | "crash">;

export function createApprovalEvents(ports: Ports): ApprovalEvents {
  /** In the journal's order; the first ones may be on their way. */
  const queue: ApprovalEvent[] = [];

  async function publish({ events }: UnitOfWork, { kind, payload }: ApprovalEvent): Promise<void> {
    if (kind === "expiry") await events.publish(subjects.approvalExpired, payload);
    else if (kind === "sent") await events.publish(subjects.approvalSent, payload);
    else if (kind === "end") await events.publish(subjects.approvalEnded, payload);
    else if (kind === "unblock") await events.publish(subjects.blockEnded, payload);
    else {
      await events.publish(subjects.blockOpened, payload);
      if (!isChanged(payload)) await events.publish(subjects.alarmRaised, alarmOf(payload));
    }
  }

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
  async function drain(ending: AbortSignal): Promise<undefined> {
    while (queue.length > 0 && !ending.aborted) {
      const reported = queue.slice(0, transactionMax);
      await tellTogether(reported);
      queue.splice(0, reported.length);
    }
  }

  const loop = startLoop({
    ports,
    what: {
      failing: "entries of the journal cannot be published yet",
      working: "entries of the journal can be published again",
    },
    run: drain,
    troubleMsMin: retryMs,
    troubleMsMax: retryMs,
  });

  function tellInTime(event: ApprovalEvent): void {
    queue.push(event);
    // One turn later, so that what became durable together is published together; while more wait, the loop is at it, or waits for the store.
    if (queue.length === 1) loop.wake();
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
        else if (row.kind === "sent") tellInTime({ kind: "sent", payload: approvalSent.parse(heard) });
        else if (row.kind === "end") tellInTime({ kind: "end", payload: approvalEnded.parse(heard) });
        else if (row.kind === "block") tellInTime({ kind: "block", payload: riskBlock.parse(heard) });
        else if (row.kind === "unblock") tellInTime({ kind: "unblock", payload: riskBlockEnded.parse(heard) });
      }
    },
    unpublished: () => queue.length,
    stop: loop.stop,
  };
}

/** The name under which it is remembered that it was published. */
function nameOf({ kind, payload }: ApprovalEvent): string {
  const at = kind === "block" && isChanged(payload) ? `${payload.at} ${payload.gap?.as_of}` : payload.at;
  return `${kind} ${"block_id" in payload ? payload.block_id : payload.order_id} ${at}`;
}

/** A gap that is open, and of which more, or less, is missing by now: it was alarmed when it opened. */
const isChanged = ({ gap, at }: RiskBlock): boolean => gap !== undefined && gap.as_of !== at;

/** In the same transaction as the event, so that whoever is to accept a block hears of it, whatever crashes. */
function alarmOf({ cause, block_id: about, reason, at }: RiskBlock): AlarmRaised {
  const accept = `Accept it with: ctl riskengine blocks accept ${about} --reason TEXT`;
  const sentence = line(`${reason} ${accept}`, 2_000);
  return { code: cause, level: alarms[cause].level, service: "riskengine", sentence, facts: { about }, at };
}

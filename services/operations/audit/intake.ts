// From the bus into the log: a durable subscription to everything, and an entry for every event that changes state. The event's id is the entry's,
// so whatever is handed over again is found where it stands.
//
//  1. An event is handled when its entry is durable.
//  2. What was read together is appended together, before the first of it is handed over.
//  3. Events stand in the log in the order in which they are handed over. When an append fails, nothing is appended ahead until everything that
//     failed with it has been handed over again.
import { auditRuleOf } from "../../../contracts/src/audit-actions.ts";
import { Fault } from "../../../contracts/src/fault.ts";
import { format } from "../../../contracts/src/instant.ts";
import { everySubject } from "../../../contracts/src/subjects.ts";
import type { Sha256OfBytes } from "../../../core/audit/hash.ts";
import type { Bus, BusEvent, Subscription } from "../../../ports/bus.ts";
import { fitActor, fitPayload, fitSubjectId } from "./event-data.ts";
import type { Appended, AuditWish } from "./sequencer.ts";

export const intakeName = "operations.audit";
/** As many as are read together, and the bound on what is remembered of them. */
const readTogetherMax = 1_000;

export interface IntakeOptions {
  readonly bus: Pick<Bus, "subscribe">;
  readonly sha256: Sha256OfBytes;
  readonly append: (wish: AuditWish) => Promise<Appended>;
}

export function startIntake({ bus, sha256, append }: IntakeOptions): Promise<Subscription> {
  /** Appended ahead, not handed over yet. */
  const underWay = new Map<string, Promise<Appended>>();
  /** Appended ahead in vain, not handed over yet. */
  const failed = new Set<string>();

  async function ahead(events: readonly BusEvent[]): Promise<void> {
    if (failed.size > 0) return;
    const appends: Promise<unknown>[] = [];
    for (const event of events) {
      if (underWay.has(event.id) || underWay.size >= readTogetherMax) continue;
      const wish = wishOf(event, sha256);
      if (wish === undefined) continue;
      const appending = append(wish);
      underWay.set(event.id, appending);
      // The handler hears of a failure; here it only must not go unheard.
      appends.push(appending.catch(() => failed.add(event.id)));
    }
    await Promise.all(appends);
  }

  async function handle(event: BusEvent): Promise<void> {
    const appending = underWay.get(event.id);
    underWay.delete(event.id);
    if (appending !== undefined && !failed.has(event.id)) {
      await appending;
      return;
    }
    const wish = wishOf(event, sha256);
    try {
      if (wish !== undefined) await append(wish);
      failed.delete(event.id);
    } catch (thrown) {
      // What will never be an entry is put aside by the bus: it must not hold up what comes after it.
      if (!(thrown instanceof Fault) || thrown.retry === "never") failed.delete(event.id);
      throw thrown;
    }
  }

  return bus.subscribe({ name: intakeName, subjects: [everySubject], queueMax: readTogetherMax, ahead }, handle);
}

/** What an event becomes; undefined when it is none of the audit log's business. */
export function wishOf(event: BusEvent, sha256: Sha256OfBytes): AuditWish | undefined {
  const rule = auditRuleOf(event);
  if ("notAudited" in rule) return undefined;
  return {
    eventId: event.id,
    actor: fitActor(rule.actorOf(event), sha256),
    action: rule.action,
    subjectId: fitSubjectId(rule.subjectIdOf(event.payload), sha256),
    data: {
      at: format(event.at),
      event_id: event.id,
      payload: fitPayload(event.payload, sha256),
      source: event.source,
      subject: event.subject,
    },
  };
}

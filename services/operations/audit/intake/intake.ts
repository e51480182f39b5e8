// From the bus into the log: a durable subscription to everything, and an entry for every event that changes state. The event's id is the entry's,
// so whatever is handed over again is found where it stands. An event whose subject nobody here knows never comes: the bus puts it aside, and
// that it did is an event.
//
//  1. An event is handled when its entry is durable.
//  2. What was read together is appended together, before the first of it is handed over.
//  3. Events stand in the log in the order in which they are handed over. When an append fails, nothing is appended ahead until everything that
//     failed with it has been handed over again.
import { auditActions, auditRuleOf } from "../../../../contracts/src/audit-actions.ts";
import { Defect, Fault } from "../../../../contracts/src/fault.ts";
import { format } from "../../../../contracts/src/instant.ts";
import { everySubject, leftOut, subjects } from "../../../../contracts/src/subjects.ts";
import type { Sha256OfBytes } from "../../../../core/audit/hash.ts";
import type { Bus, BusEvent, Subscription } from "../../../../ports/bus.ts";
import { fitActor, fitPayload, fitSubjectId } from "../log/event-data.ts";
import type { Appended, AuditWish } from "../log/sequencer.ts";
import type { Seal, Sealing } from "../personal/sealing.ts";

export const intakeName = "operations.audit";
/** As many as are read together, and the bound on what is remembered of them. */
const readTogetherMax = 1_000;

/**
 * All subjects but those that become no entries: what the log itself publishes about every entry is then never read back here, and a decision
 * does not arrive once more for each of its gates.
 */
const heard: readonly string[] = [
  everySubject,
  ...(Object.keys(subjects) as (keyof typeof subjects)[])
    .filter((key) => "notAudited" in auditActions[key])
    .map((key) => leftOut(subjects[key].name)),
];

export interface IntakeOptions {
  readonly bus: Pick<Bus, "subscribe">;
  readonly sha256: Sha256OfBytes;
  readonly append: (wish: AuditWish) => Promise<Appended>;
  readonly sealing: Pick<Sealing, "prepare">;
}

export function startIntake({ bus, sha256, append, sealing }: IntakeOptions): Promise<Subscription> {
  /** Appended ahead, not handed over yet. */
  const underWay = new Map<string, Promise<Appended>>();
  /** Appended ahead in vain, not handed over yet. */
  const failed = new Set<string>();

  /** Undefined when nothing of them is about a person, which is so for nearly all. */
  async function sealFor(events: readonly BusEvent[]): Promise<Seal | undefined> {
    const persons = events.flatMap((event) => personalIn(event, sha256)?.person ?? []);
    return persons.length === 0 ? undefined : sealing.prepare(persons);
  }

  async function ahead(events: readonly BusEvent[]): Promise<void> {
    if (failed.size > 0) return;
    let seal: Seal | undefined;
    try {
      seal = await sealFor(events);
    } catch (thrown) {
      // Nothing is appended ahead without its keys; each event asks again when it is handed over, and is heard when it fails.
      if (thrown instanceof Fault) return;
      throw thrown;
    }
    const appends: Promise<unknown>[] = [];
    for (const event of events) {
      if (underWay.has(event.id) || underWay.size >= readTogetherMax) continue;
      const wish = wishOf(event, sha256, seal);
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
    try {
      const wish = wishOf(event, sha256, await sealFor([event]));
      if (wish !== undefined) await append(wish);
      failed.delete(event.id);
    } catch (thrown) {
      // What will never be an entry is put aside by the bus: it must not hold up what comes after it.
      if (!(thrown instanceof Fault) || thrown.retry === "never") failed.delete(event.id);
      throw thrown;
    }
  }

  return bus.subscribe({ name: intakeName, subjects: heard, queueMax: readTogetherMax, ahead }, handle);
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * Under which id it is in the log at most once. Our own events have a UUID; whoever publishes from outside chooses freely, and must not be able
 * to take an id that the log itself will need, or the entry of a revoked key would be found to stand there already.
 */
function idOf({ id }: BusEvent): string {
  return uuid.test(id) ? id : `bus/${id}`;
}

/** What an event becomes; undefined when it is none of the audit log's business. */
export function wishOf(event: BusEvent, sha256: Sha256OfBytes, seal: Seal | undefined): AuditWish | undefined {
  const rule = auditRuleOf(event);
  if ("notAudited" in rule) return undefined;
  return {
    eventId: idOf(event),
    actor: fitActor(rule.actorOf(event), sha256),
    action: rule.action,
    subjectId: fitSubjectId(rule.subjectIdOf(event.payload), sha256),
    data: {
      at: format(event.at),
      event_id: event.id,
      payload: fitPayload(sealedPayload(event, sha256, seal), sha256),
      source: event.source,
      subject: event.subject,
    },
  };
}

interface Personal {
  readonly person: string;
  /** Members of the payload. */
  readonly fields: readonly string[];
}

/** Which members of an event's payload are about whom; undefined when none is. */
function personalIn(event: BusEvent, sha256: Sha256OfBytes): Personal | undefined {
  const rule = auditRuleOf(event);
  if ("notAudited" in rule || rule.personal.length === 0) return undefined;
  const payload = event.payload as Readonly<Record<string, unknown>>;
  const fields = rule.personal.filter((field) => payload[field] !== undefined);
  return fields.length === 0 ? undefined : { person: fitSubjectId(rule.personOf(payload), sha256), fields };
}

/** Sealed before anything is cut or measured, so that no part of it is written in plain text. */
function sealedPayload(event: BusEvent, sha256: Sha256OfBytes, seal: Seal | undefined): unknown {
  const personal = personalIn(event, sha256);
  if (personal === undefined) return event.payload;
  if (seal === undefined) throw new Defect(`${event.subject} is about a person, and no key was made ready`);
  const payload: Record<string, unknown> = { ...(event.payload as Readonly<Record<string, unknown>>) };
  for (const field of personal.fields) {
    const place = { person: personal.person, eventId: event.id, path: `payload/${field}` };
    payload[field] = seal(place, fitPayload(payload[field], sha256));
  }
  return payload;
}

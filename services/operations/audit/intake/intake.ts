// From the bus into the log: a durable subscription to everything, and an entry for every event that changes state, and for every one that nobody
// here can read. The event's id is the entry's, so whatever is handed over again is found where it stands. Who published it is what the database
// says; whatever else a publisher claims stands in the entry as a claim.
//
//  1. An event is handled when its entry is durable.
//  2. What was read together is appended together, before the first of it is handed over.
//  3. Events stand in the log in the order in which they are handed over. When an append fails, nothing is appended ahead until everything that
//     failed with it has been handed over again.
//  4. A message that measures progress is passed on when it is handed over: then everything before it is durable.
//  5. An event of ours whose row the database no longer has cannot be proved. If the log has its entry it is a repetition; else it is recorded
//     as foreign, under an id that is not the event's own.
import { auditActions } from "../../../../contracts/src/audit-actions.ts";
import { Fault } from "../../../../contracts/src/fault.ts";
import type { AuditProgress } from "../../../../contracts/src/records/operations.ts";
import { everySubject, leftOut, subjects } from "../../../../contracts/src/subjects.ts";
import { readEntry } from "../../../../core/audit/entry.ts";
import type { Sha256OfBytes } from "../../../../core/audit/hash.ts";
import type { AuditLog } from "../../../../ports/audit-log.ts";
import type { Bus, BusEvent, Subscription } from "../../../../ports/bus.ts";
import type { AppendRequest } from "../log/append-request.ts";
import type { Appended } from "../log/sequencer.ts";
import type { Seal, Sealing } from "../personal/sealing.ts";
import { idOf, isReportedBy, ownIdOf, personalIn, requestOf } from "./append-request.ts";

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
    .filter((key) => "notAudited" in auditActions[key] && key !== "auditProgress")
    .map((key) => leftOut(subjects[key].name)),
];

export interface IntakeOptions {
  readonly bus: Pick<Bus, "subscribe">;
  readonly auditLog: Pick<AuditLog, "sequencesOf" | "read">;
  readonly sha256: Sha256OfBytes;
  readonly append: (request: AppendRequest) => Promise<Appended>;
  readonly sealing: Pick<Sealing, "prepare">;
  /** Called with every message that measures progress: everything before it is durable. */
  readonly onProgress: (beatId: string) => void;
}

/** What has to be known before events can become entries. */
interface Ready {
  /** Undefined when nothing of them is about a person, which is so for nearly all. */
  readonly seal: Seal | undefined;
  /** Events that cannot be proved and have their entry. */
  readonly repeated: ReadonlySet<BusEvent>;
}

export function startIntake({
  bus,
  auditLog,
  sha256,
  append,
  sealing,
  onProgress,
}: IntakeOptions): Promise<Subscription> {
  /** Appended ahead, not handed over yet. */
  const underWay = new Map<string, Promise<Appended>>();
  /** Appended ahead in vain, not handed over yet. */
  const failed = new Set<string>();

  async function readyFor(events: readonly BusEvent[]): Promise<Ready> {
    const persons = events.flatMap((event) => personalIn(event, sha256)?.person ?? []);
    const seal = persons.length === 0 ? undefined : await sealing.prepare(persons);
    return { seal, repeated: await repeatedOf(events) };
  }

  async function repeatedOf(events: readonly BusEvent[]): Promise<ReadonlySet<BusEvent>> {
    const repeated = new Set<BusEvent>();
    const ownIds = events.flatMap((event) => ownIdOf(event) ?? []);
    if (ownIds.length === 0) return repeated;
    const standing = await auditLog.sequencesOf(ownIds);
    for (const event of events) {
      const sequence = event.claimed === undefined ? undefined : standing.get(event.id);
      const [row] = sequence === undefined ? [] : await auditLog.read(sequence, 1);
      const record = row === undefined ? undefined : readEntry(row.text);
      // Whoever takes the id of another event must not have his own pass for it.
      if (record !== undefined && isReportedBy(record, event, sha256)) repeated.add(event);
    }
    return repeated;
  }

  function requestFor(event: BusEvent, { seal, repeated }: Ready): AppendRequest | undefined {
    return repeated.has(event) ? undefined : requestOf(event, sha256, seal);
  }

  async function ahead(events: readonly BusEvent[]): Promise<void> {
    if (failed.size > 0) return;
    let ready: Ready;
    try {
      ready = await readyFor(events);
    } catch (thrown) {
      // Nothing is appended ahead without its keys; each event asks again when it is handed over, and is heard when it fails.
      if (thrown instanceof Fault) return;
      throw thrown;
    }
    const appends: Promise<unknown>[] = [];
    for (const event of events) {
      const id = idOf(event);
      if (underWay.has(id) || underWay.size >= readTogetherMax) continue;
      const request = requestFor(event, ready);
      if (request === undefined) continue;
      const appending = append(request);
      underWay.set(id, appending);
      // The handler hears of a failure; here it only must not go unheard.
      appends.push(appending.catch(() => failed.add(id)));
    }
    await Promise.all(appends);
  }

  async function handle(event: BusEvent): Promise<void> {
    if (event.subject === subjects.auditProgress.name && event.unread === undefined) {
      return onProgress((event.payload as AuditProgress).beat_id);
    }
    const id = idOf(event);
    const appending = underWay.get(id);
    underWay.delete(id);
    if (appending !== undefined && !failed.has(id)) {
      await appending;
      return;
    }
    try {
      const request = requestFor(event, await readyFor([event]));
      if (request !== undefined) await append(request);
      failed.delete(id);
    } catch (thrown) {
      // What will never be an entry is put aside by the bus: it must not hold up what comes after it.
      if (!(thrown instanceof Fault) || thrown.retry === "never") failed.delete(id);
      throw thrown;
    }
  }

  const wanted = { name: intakeName, subjects: heard, queueMax: readTogetherMax, unread: true, proved: true };
  return bus.subscribe({ ...wanted, ahead }, handle);
}

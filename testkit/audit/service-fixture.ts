// The audit log's shell on the memory store, in virtual time: it can be killed and started again, its commits can be made to fail or to lose their
// answer, and what is on the simulated disk can be looked at and tampered with.

import { systemCipher } from "../../adapters/system/cipher.ts";
import { systemSha256OfBytes, systemSigning } from "../../adapters/system/signing.ts";
import { fromMicroseconds } from "../../contracts/src/instant.ts";
import type { Subject } from "../../contracts/src/subject.ts";
import { subjectByName } from "../../contracts/src/subjects.ts";
import { type EntryRecord, makeEntry, readEntry } from "../../core/audit/entry.ts";
import type { AuditLog } from "../../ports/audit-log.ts";
import type { Log } from "../../ports/log.ts";
import type { Witnesses } from "../../ports/witnesses.ts";
import { type LastingAudit, startLastingAudit } from "../../services/operations/audit/anew/lasting-audit.ts";
import { startAudit } from "../../services/operations/audit/audit.ts";
import type { AuditPorts, AuditSettings } from "../../services/operations/audit/audit-ports.ts";
import { keepAudit } from "../../services/operations/audit/kept-audit.ts";
import { unauditedInPlatform } from "../audited-changes.ts";
import { memoryAuditLog } from "../memory/audit-log.ts";
import { type AuditTables, auditTables } from "../memory/audit-tables.ts";
import { memoryBus } from "../memory/bus.ts";
import { type CommitFate, noFaults } from "../memory/faults.ts";
import { type AnchorTables, memoryAnchor } from "../memory/memory-anchor.ts";
import { memoryStore } from "../memory/store.ts";
import { memorySubjectKeys, type SubjectKeyTables } from "../memory/subject-keys.ts";
import { type MemoryProcess, memoryTables } from "../memory/tables.ts";
import { plainSecrets } from "../plain-secrets.ts";
import { type Scheduler, scheduler } from "../virtual/scheduler.ts";

const silence = (): undefined => undefined;
const log: Log = { debug: silence, info: silence, warn: silence, error: silence, with: () => log };
const dayMs = 86_400_000;

export interface AuditFixtureOptions {
  readonly seed: number;
  readonly witnesses?: Witnesses;
  /** What the anchor keeps, if there is one. */
  readonly anchor?: AnchorTables;
  readonly settings?: Partial<AuditSettings>;
}

/** One life of the audit log's shell. */
export interface AuditLife {
  readonly audit: LastingAudit;
  readonly auditLog: AuditLog;
  readonly process: MemoryProcess;
  readonly deaths: Error[];
}

export type AuditFixture = ReturnType<typeof auditFixture>;

export function auditFixture(options: AuditFixtureOptions) {
  const time: Scheduler = scheduler({ seed: options.seed });
  /** Fates of the next commits of that name: "audit.append", "audit.checkpoint", "audit.tiles". */
  const fates = new Map<string, CommitFate[]>();
  const delays = { commitMs: 1, answerMs: 0 };
  /** How far the wall clock is from the scheduler's time. */
  const skew = { us: 0 };
  const clock = { now: () => fromMicroseconds(time.clock.now() + skew.us) };
  /** What was asked of the log, by name. */
  const commits = new Map<string, number>();
  const tables = memoryTables({
    ...noFaults,
    commit(name) {
      commits.set(name, (commits.get(name) ?? 0) + 1);
      return fates.get(name)?.shift() ?? "committed";
    },
    commitDelayMs: () => delays.commitMs,
    answerDelayMs: () => delays.answerMs,
  });
  const disk: AuditTables = auditTables();
  const secrets = plainSecrets();
  const subjectKeys: SubjectKeyTables = new Map();
  let lives = 0;
  const finish = <Value>(promise: Promise<Value>): Promise<Value> =>
    time.finish("the audit fixture", promise, 1_000_000);

  function portsOf(process: MemoryProcess) {
    lives += 1;
    const basic = { process, clock, timers: time.timers, random: time.prng.fork(`${process.name} ${lives}`) };
    return {
      ...basic,
      store: memoryStore({ ...basic, unauditedChange: unauditedInPlatform }),
      bus: memoryBus({ ...basic, subjectByName }),
    };
  }

  /** `kept`: as operations has it, which opens it anew when it is whole again. */
  async function start(more: { readonly witnesses?: Witnesses; readonly kept?: boolean } = {}): Promise<AuditLife> {
    const process = tables.process("operations");
    const deaths: Error[] = [];
    const auditLog = memoryAuditLog({ process, timers: time.timers, audit: disk });
    const open = more.kept === true ? keepAudit : startAudit;
    const startWith = (ports: AuditPorts): Promise<LastingAudit> => startLastingAudit(ports, open);
    const audit = await finish(
      startWith({
        ...portsOf(process),
        crash: { die: (defect) => deaths.push(defect) as never },
        log,
        metrics: {
          counter: () => ({ add: silence }),
          gauge: () => ({ set: silence }),
          histogram: () => ({ observe: silence }),
        },
        secrets,
        auditLog,
        signing: systemSigning(),
        sha256OfBytes: systemSha256OfBytes,
        subjectKeys: memorySubjectKeys(subjectKeys),
        cipher: systemCipher,
        witnesses: more.witnesses ?? options.witnesses,
        anchors: options.anchor === undefined ? [] : [memoryAnchor(options.anchor)],
        auditSettings: {
          signingKeyPath: "secret/portcullis/audit/signing-key",
          verifyFirstAfterMs: 30 * dayMs,
          ...options.settings,
        },
      }),
    );
    return { audit, auditLog, process, deaths };
  }

  const outside = new Map<string, ReturnType<typeof portsOf>>();
  /** Publishes as that service, through its outbox. */
  function publish<Payload>(source: string, subject: Subject<Payload>, payload: Payload): Promise<string> {
    const ports = outside.get(source) ?? portsOf(tables.process(source));
    outside.set(source, ports);
    return finish(ports.store.transact("outside", (unit) => unit.events.publish(subject, payload)));
  }

  return { time, tables, disk, secrets, subjectKeys, fates, delays, skew, commits, finish, start, publish, portsOf };
}

/** What the disk holds, as records. */
export function recordsOf(disk: AuditTables): EntryRecord[] {
  return disk.rows.map(({ text }) => {
    const record = readEntry(text);
    if (record === undefined) throw new Error("something on the disk is no entry");
    return record;
  });
}

/** Changes one entry and chains everything after it anew, with the head: what somebody with the whole database can do without the key. */
export function rewriteAndRechain(disk: AuditTables, sequence: number, data: Readonly<Record<string, unknown>>): void {
  const records = recordsOf(disk);
  for (let at = sequence; at < records.length; at += 1) {
    const record = records[at];
    const row = disk.rows[at];
    if (record === undefined || row === undefined) throw new Error(`no entry ${at}`);
    const { hash: _hash, ...fields } = record;
    const prev_hash = records[at - 1]?.hash ?? fields.prev_hash;
    const changed = at === sequence ? { ...fields, data: { ...fields.data, ...data } } : fields;
    const entry = makeEntry({ ...changed, prev_hash }, systemSha256OfBytes);
    disk.rows[at] = { ...row, text: entry.text };
    records[at] = { ...record, prev_hash, hash: entry.hash };
  }
  const last = records.at(-1);
  if (last !== undefined) disk.head = { size: records.length, hash: last.hash, timestamp: last.timestamp };
}

/** Cuts the log off, with the head: as if the rest had never been. */
export function truncate(disk: AuditTables, size: number): void {
  for (const row of disk.rows.splice(size)) {
    disk.byEvent.delete(row.eventId);
    const left = (disk.bySubject.get(row.subjectId) ?? []).filter((sequence) => sequence < size);
    disk.bySubject.set(row.subjectId, left);
  }
  const last = recordsOf(disk).at(-1);
  disk.head = { size, hash: last?.hash ?? "0".repeat(64), timestamp: last?.timestamp ?? "" };
}

/** Takes rows away and leaves everything else as it was, the head, the tiles and the checkpoints too. */
export function loseRows(disk: AuditTables, from: number, end: number): void {
  const isLost = (sequence: number): boolean => sequence >= from && sequence < end;
  for (const { eventId, subjectId, sequence } of disk.rows.filter((row) => isLost(row.sequence))) {
    disk.byEvent.delete(eventId);
    const left = (disk.bySubject.get(subjectId) ?? []).filter((each) => each !== sequence);
    disk.bySubject.set(subjectId, left);
  }
  disk.rows.splice(0, disk.rows.length, ...disk.rows.filter(({ sequence }) => !isLost(sequence)));
}

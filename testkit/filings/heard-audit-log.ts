// An audit log that hears the bus as operations' does and writes the same entries, one after the other, into memory: for tests of what is derived from it.
import { systemSha256OfBytes } from "../../adapters/system/signing.ts";
import { format, type Instant } from "../../contracts/src/instant.ts";
import { everySubject } from "../../contracts/src/subjects.ts";
import { type Entry, makeEntry, readEntry } from "../../core/audit/entry.ts";
import { makeGenesis } from "../../core/audit/genesis.ts";
import type { AuditHead, AuditLog } from "../../ports/audit-log.ts";
import type { Bus } from "../../ports/bus.ts";
import { requestOf } from "../../services/operations/audit/intake/append-request.ts";
import { firstSigner, incarnation, origin } from "../audit/sample-log.ts";

export interface HeardAuditLog {
  readonly auditLog: AuditLog;
  /** Changes the first entry with this text behind the log's back. */
  tamper(from: string, to: string): void;
}

export async function heardAuditLog(bus: Bus, now: () => Instant): Promise<HeardAuditLog> {
  const keys = [firstSigner.key.vkey];
  const entries: Entry[] = [makeGenesis({ origin, incarnation, keys, timestamp: format(now()) }, systemSha256OfBytes)];
  const newest = new Map<string, number>();
  const timestampAt = (index: number): string => readEntry(entries[index]?.text ?? new Uint8Array())?.timestamp ?? "";
  const head = async (): Promise<AuditHead> => ({
    size: entries.length,
    hash: entries.at(-1)?.hash ?? "",
    timestamp: timestampAt(entries.length - 1),
  });
  const reads = {
    head,
    read: async (from: number, count: number) =>
      entries.slice(from, from + count).map(({ text }, index) => ({ sequence: from + index, text })),
    readSubject: async (subjectId: string) =>
      entries.flatMap(({ text }, sequence) => (isAbout(text, subjectId) ? [{ sequence, text, subjectId }] : [])),
    closedLogs: async () => [],
  };
  await bus.subscribe({ name: "test.audit", subjects: [everySubject], proved: true }, async (event) => {
    const request = requestOf(event, systemSha256OfBytes, undefined);
    if (request === undefined) return;
    const { actor, action, subjectId, data } = request;
    const sequence = entries.length;
    const fields = { sequence, timestamp: format(now()), actor, action, subject_id: subjectId };
    const linked = { ...data, subject_previous: newest.get(subjectId) ?? null };
    const prev_hash = entries.at(-1)?.hash ?? "";
    entries.push(makeEntry({ ...fields, data: linked, prev_hash }, systemSha256OfBytes));
    newest.set(subjectId, sequence);
  });
  return {
    auditLog: reads as unknown as AuditLog,
    tamper(from, to) {
      const sequence = entries.findIndex(({ text }) => new TextDecoder().decode(text).includes(from));
      const entry = entries[sequence];
      if (entry === undefined) throw new Error(`no entry has ${from}`);
      const text = new TextDecoder().decode(entry.text).replace(from, to);
      entries[sequence] = { ...entry, text: new TextEncoder().encode(text) };
    },
  };
}

const isAbout = (text: Uint8Array, subjectId: string): boolean => readEntry(text)?.subject_id === subjectId;

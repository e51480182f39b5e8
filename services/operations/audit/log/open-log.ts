// Takes the writer epoch and finds out whose log this is: a new one gets a key and entry 0, an old one must be the one that the key was made for. A log that
// follows another was begun by two people and is never made here: without its entries or its key it stands still.
import { Fault } from "../../../../contracts/src/fault.ts";
import { format } from "../../../../contracts/src/instant.ts";
import type { AuditFault } from "../../../../core/audit/fault.ts";
import { genesisAction, makeGenesis } from "../../../../core/audit/genesis.ts";
import type { AuditHead, AuditLog } from "../../../../ports/audit-log.ts";
import type { Clock } from "../../../../ports/clock.ts";
import {
  findLogKey,
  type KeyPorts,
  keyPathOf,
  type LogKey,
  makeLogKey,
  markBegun,
  markClosed,
} from "../keys/signing-key.ts";
import { originOf } from "./restore.ts";

interface OpenPorts extends KeyPorts {
  readonly auditLog: Pick<AuditLog, "takeWriterEpoch" | "append" | "read">;
  readonly clock: Clock;
  readonly incarnation: string;
}

export interface OpenedLog {
  /** 1 for the first log of all. */
  readonly number: number;
  readonly writerEpoch: number;
  readonly head: AuditHead;
  readonly origin: string;
  /** Undefined when the log is there and its key is not: then nothing can be signed. */
  readonly key: LogKey | undefined;
  /** Why nothing may be appended. */
  readonly fault: AuditFault | undefined;
}

const attemptsMax = 5;

export async function openLog(given: OpenPorts): Promise<OpenedLog> {
  const { writerEpoch, head, number } = await given.auditLog.takeWriterEpoch(given.incarnation);
  const ports = { ...given, path: keyPathOf(given.path, number) };
  const found = await findLogKey(ports);
  if (number > 1) return openFollowing(given, ports, { number, writerEpoch, head, key: found });
  if (head.size > 0) return openOld(ports, { number, writerEpoch, head, key: found });
  const key = found ?? (await makeLogKey(ports));
  if (key.begun) return { number, writerEpoch, head, origin: key.origin, key, fault: emptied(key.origin) };
  const begun = await writeGenesis(ports, key, { writerEpoch, head });
  await markBegun(ports);
  return { number, ...begun, origin: key.origin, key, fault: undefined };
}

/** What opening the log of that number would find, without taking the writer epoch or writing anything. */
export async function peekLog(
  ports: KeyPorts & { readonly auditLog: Pick<AuditLog, "head" | "read"> },
  number: number,
): Promise<Omit<OpenedLog, "writerEpoch">> {
  const head = await ports.auditLog.head();
  const key = await findLogKey(ports);
  if (number > 1 && key === undefined) return { number, head, key, origin: "", fault: nobodys(ports.path) };
  const isEmptied = number > 1 || key?.begun === true;
  if (head.size <= 0)
    return { number, head, key, origin: key?.origin ?? "", fault: isEmptied ? emptied(key?.origin ?? "") : undefined };
  const stated = await originOf(ports.auditLog);
  if (key === undefined) return { number, head, key, origin: stated ?? "", fault: undefined };
  return { number, head, key, origin: key.origin, fault: namedOtherwise(key, stated) };
}

type Taken = Pick<OpenedLog, "number" | "writerEpoch" | "head" | "key">;

async function openFollowing(given: OpenPorts, ports: OpenPorts, taken: Taken): Promise<OpenedLog> {
  const { number, key } = taken;
  if (key === undefined) {
    return { ...taken, origin: (await originOf(ports.auditLog)) ?? "", fault: nobodys(ports.path) };
  }
  if (taken.head.size === 0) return { ...taken, origin: key.origin, fault: emptied(key.origin) };
  const opened = await openOld(ports, taken);
  // A crash may have come before this was noted: whoever puts the old log back in its place is found out by it.
  const before = { ...given, path: keyPathOf(given.path, number - 1) };
  if (opened.fault === undefined && (await findLogKey(before))?.closed === false) await markClosed(before);
  return opened;
}

function nobodys(path: string): AuditFault {
  const expected = `a log that two people have begun (${path})`;
  return { code: "GENESIS_MISMATCH", sequence: 0, expected, actual: "one that nobody has the key of" };
}

function emptied(origin: string): AuditFault {
  return { code: "TRUNCATED", sequence: 0, expected: `the log ${origin}`, actual: "no entry" };
}

async function openOld(ports: OpenPorts, taken: Taken): Promise<OpenedLog> {
  const { key } = taken;
  const stated = await originOf(ports.auditLog);
  if (key === undefined) return { ...taken, origin: stated ?? "", fault: undefined };
  const fault = namedOtherwise(key, stated);
  // A crash may have come between entry 0 and the note that it is there.
  if (fault === undefined && !key.begun) await markBegun(ports);
  return { ...taken, origin: key.origin, fault };
}

/** Whether this is not the log that the key was made for, or one that another has followed. */
export function namedOtherwise({ origin, closed }: LogKey, stated: string | undefined): AuditFault | undefined {
  if (stated !== origin) {
    return { code: "GENESIS_MISMATCH", sequence: 0, expected: `origin ${origin}`, actual: stated ?? "no entry 0" };
  }
  if (!closed) return undefined;
  const expected = `the log that was begun after ${origin} was closed`;
  return { code: "GENESIS_MISMATCH", sequence: 0, expected, actual: `origin ${origin}` };
}

/** Writes entry 0. When the answer is lost, the head tells whether it is there. */
async function writeGenesis(
  { auditLog, clock, sha256, incarnation }: OpenPorts,
  { origin, incarnation: named, key }: LogKey,
  first: { readonly writerEpoch: number; readonly head: AuditHead },
): Promise<{ readonly writerEpoch: number; readonly head: AuditHead }> {
  const timestamp = format(clock.now());
  const { text, hash } = makeGenesis({ origin, incarnation: named, keys: [key.vkey], timestamp }, sha256);
  const row = { sequence: 0, text, eventId: genesisAction, subjectId: origin, action: genesisAction, timestamp };
  const head = { size: 1, hash, timestamp };
  let { writerEpoch } = first;
  for (let attempt = 1; ; attempt += 1) {
    try {
      await auditLog.append({ writerEpoch, after: 0, rows: [row], head });
      return { writerEpoch, head };
    } catch (thrown) {
      const isUnknown = thrown instanceof Fault && thrown.code === "STORE_COMMIT_UNKNOWN";
      if (!isUnknown || attempt >= attemptsMax) throw thrown;
    }
    const taken = await auditLog.takeWriterEpoch(incarnation);
    if (taken.head.size === 1 && taken.head.hash === hash) return taken;
    if (taken.head.size > 0)
      throw new Fault("STORE_CONFLICT", "another process began the audit log", { retry: "later" });
    ({ writerEpoch } = taken);
  }
}

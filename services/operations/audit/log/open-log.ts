// Takes the pen and finds out whose log this is: a new one gets a key and entry 0, an old one must be the one that the key was made for.
import { Fault } from "../../../../contracts/src/fault.ts";
import { format } from "../../../../contracts/src/instant.ts";
import type { AuditFault } from "../../../../core/audit/fault.ts";
import { genesisAction, makeGenesis } from "../../../../core/audit/genesis.ts";
import type { AuditHead, AuditLog } from "../../../../ports/audit-log.ts";
import type { Clock } from "../../../../ports/clock.ts";
import { findLogKey, type KeyPorts, type LogKey, makeLogKey, markBegun } from "../keys/signing-key.ts";
import { originOf } from "./restore.ts";

export interface OpenPorts extends KeyPorts {
  readonly auditLog: Pick<AuditLog, "takePen" | "append" | "read">;
  readonly clock: Clock;
  readonly incarnation: string;
}

export interface OpenedLog {
  readonly pen: number;
  readonly head: AuditHead;
  readonly origin: string;
  /** Undefined when the log is there and its key is not: then nothing can be signed. */
  readonly key: LogKey | undefined;
  /** Why nothing may be appended. */
  readonly fault: AuditFault | undefined;
}

const attemptsMax = 5;

export async function openLog(ports: OpenPorts): Promise<OpenedLog> {
  const { pen, head } = await ports.auditLog.takePen(ports.incarnation);
  const found = await findLogKey(ports);
  if (head.size > 0) return openOld(ports, pen, head, found);
  const key = found ?? (await makeLogKey(ports));
  if (key.begun) return { pen, head, origin: key.origin, key, fault: isGone(key) };
  const begun = await writeGenesis(ports, key, { pen, head });
  await markBegun(ports);
  return { ...begun, origin: key.origin, key, fault: undefined };
}

/** What opening it would find, without taking the pen or writing anything. */
export async function peekLog(
  ports: KeyPorts & { readonly auditLog: Pick<AuditLog, "head" | "read"> },
): Promise<Omit<OpenedLog, "pen">> {
  const head = await ports.auditLog.head();
  const key = await findLogKey(ports);
  if (head.size > 0) return { head, ...(await whoseLog(ports, key)) };
  return { head, origin: key?.origin ?? "", key, fault: key?.begun === true ? isGone(key) : undefined };
}

async function openOld(ports: OpenPorts, pen: number, head: AuditHead, key: LogKey | undefined): Promise<OpenedLog> {
  const found = await whoseLog(ports, key);
  // A crash may have come between entry 0 and the note that it is there.
  if (key?.begun === false && found.fault === undefined) await markBegun(ports);
  return { pen, head, ...found };
}

async function whoseLog(
  { auditLog }: { readonly auditLog: Pick<AuditLog, "read"> },
  key: LogKey | undefined,
): Promise<Pick<OpenedLog, "origin" | "key" | "fault">> {
  const stated = await originOf(auditLog);
  if (key === undefined) return { origin: stated ?? "", key, fault: undefined };
  if (stated === key.origin) return { origin: key.origin, key, fault: undefined };
  const [expected, actual] = [`origin ${key.origin}`, stated ?? "no entry 0"];
  return { origin: key.origin, key, fault: { code: "GENESIS_MISMATCH", sequence: 0, expected, actual } };
}

function isGone({ origin }: LogKey): AuditFault {
  return { code: "TRUNCATED", sequence: 0, expected: `the log ${origin}`, actual: "no entry" };
}

/** Writes entry 0. When the answer is lost, the head tells whether it is there. */
async function writeGenesis(
  { auditLog, clock, sha256, incarnation }: OpenPorts,
  { origin, incarnation: named, key }: LogKey,
  first: { readonly pen: number; readonly head: AuditHead },
): Promise<{ readonly pen: number; readonly head: AuditHead }> {
  const timestamp = format(clock.now());
  const { text, hash } = makeGenesis({ origin, incarnation: named, keys: [key.vkey], timestamp }, sha256);
  const row = { sequence: 0, text, eventId: genesisAction, subjectId: origin, action: genesisAction, timestamp };
  const head = { size: 1, hash, timestamp };
  let { pen } = first;
  for (let attempt = 1; ; attempt += 1) {
    try {
      await auditLog.append({ pen, after: 0, rows: [row], head });
      return { pen, head };
    } catch (thrown) {
      const isUnknown = thrown instanceof Fault && thrown.code === "STORE_COMMIT_UNKNOWN";
      if (!isUnknown || attempt >= attemptsMax) throw thrown;
    }
    const taken = await auditLog.takePen(incarnation);
    if (taken.head.size === 1 && taken.head.hash === hash) return taken;
    if (taken.head.size > 0)
      throw new Fault("STORE_CONFLICT", "another process began the audit log", { retry: "later" });
    ({ pen } = taken);
  }
}

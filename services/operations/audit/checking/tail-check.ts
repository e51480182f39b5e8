// The newest entries, read every second: what the sequencer made durable must still be there, and still be what it was. It is cheap, so it sees
// only the end of the log; the rest is found by whole verifications.
import { createChainCheck } from "../../../../core/audit/chain-check.ts";
import type { AuditFault } from "../../../../core/audit/fault.ts";
import type { Sha256OfBytes } from "../../../../core/audit/hash.ts";
import type { AuditHead, AuditLog } from "../../../../ports/audit-log.ts";
import { firstMissing } from "../log/row-count.ts";

export interface TailPorts {
  readonly auditLog: Pick<AuditLog, "head" | "count" | "read">;
  readonly sha256: Sha256OfBytes;
  readonly origin: string;
}

/** So many rows before what was counted last time are counted again, and so many of the newest are read. */
const countedRows = 5_000;
export const readRows = 16;

/** `head` is where the sequencer stands, which has told everybody that these entries are durable; `counted` is the size at the last look. */
export async function tailFault(
  { auditLog, sha256, origin }: TailPorts,
  head: AuditHead,
  counted: number,
): Promise<AuditFault | undefined> {
  if (head.size === 0) return undefined;
  const stored = await auditLog.head();
  if (stored.size < head.size) {
    const [expected, actual] = [`${head.size} entries`, `the head says ${stored.size}`];
    return { code: "TRUNCATED", sequence: stored.size, expected, actual };
  }
  const from = Math.max(0, Math.min(counted, head.size) - countedRows);
  if ((await auditLog.count(from, head.size)) < head.size - from) {
    return firstMissing(auditLog, head.size, from, head.size);
  }
  const begin = Math.max(0, head.size - readRows);
  const chain = createChainCheck({ sha256, from: begin, origin });
  for (const { text } of await auditLog.read(begin, head.size - begin)) {
    const fault = chain.next(text);
    if (fault !== undefined) return fault;
  }
  const isSame = chain.hash === head.hash && (stored.size > head.size || stored.hash === head.hash);
  if (isSame) return undefined;
  const actual = chain.hash === head.hash ? `the head says ${stored.hash}` : (chain.hash ?? "no entry");
  return { code: "HASH_MISMATCH", sequence: head.size - 1, expected: head.hash, actual };
}

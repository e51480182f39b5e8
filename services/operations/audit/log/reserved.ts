// What belongs to the audit service alone: actions that change what the log itself means, and the members of data that it writes.
import { Fault } from "../../../../contracts/src/fault.ts";
import { genesisAction } from "../../../../core/audit/genesis.ts";
import { revokedAction, rotatedAction } from "../../../../core/audit/key-ring.ts";
import type { AuditWish } from "./sequencer.ts";

/** The sequence of the newest earlier entry about the same subject, or null. */
export const subjectPrevious = "subject_previous";
export const keyDestroyedAction = "subject.key_destroyed";
export const verifiedAction = "chain.verified";
export const auditActor = "service:operations";

const fixedData: ReadonlySet<string> = new Set([genesisAction, rotatedAction, revokedAction, keyDestroyedAction]);

/** Whether the format says exactly what the data of such an entry is: then nothing is added to it. */
export function hasFixedData(action: string): boolean {
  return fixedData.has(action);
}

/** Refuses what only the audit service itself may append. */
export function refuseReserved({ action, data, at }: AuditWish): void {
  const isOurs = action.startsWith("chain.") || action.startsWith("key.") || action === keyDestroyedAction;
  if (isOurs) throw invalid(`The action ${JSON.stringify(action.slice(0, 128))} is the audit log's own.`);
  if (Object.hasOwn(data, subjectPrevious)) throw invalid(`${subjectPrevious} in the data is the audit log's own.`);
  if (at !== undefined && Object.hasOwn(data, "at")) throw invalid("The data says `at` by itself: give it once.");
}

export function invalid(sentence: string): Fault {
  return new Fault("INVALID_ARGUMENT", sentence, { retry: "never" });
}

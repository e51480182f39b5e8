// A batch of the audit log as PostgreSQL reads it, and what it means when it fails. The columns of a row stand in the order of the type
// `audit_row`.
import { Fault } from "../../../contracts/src/fault.ts";
import type { AuditBatch, NewAuditRow } from "../../../ports/audit-log.ts";
import type { Call } from "../../library-internals/prepared-call.ts";
import {
  answerLost,
  eventAgain,
  headElsewhere,
  notOnlyGained,
  staleWriterEpoch,
  timesOfRows,
} from "../../records/audit-batch.ts";
import { columnOfText } from "../exact-text.ts";
import {
  beginCall,
  beginRow,
  beginRows,
  bufferOf,
  bytesPerUnitMax,
  type CallMessage,
  callBytesMax,
  closeAt,
  columnHeadBytes,
  endCall,
  rowHeadBytes,
  types,
  writeBigint,
  writeBigintParameter,
  writeBytes,
  writeHead,
  writeText,
  writeTextParameter,
} from "../risk/call-message.ts";
import { isDefiniteCommit, storeFault } from "../store-fault.ts";

export const auditAppend: Call = { name: "audit_append", text: "select audit_append($1, $2, $3, $4, $5, $6)" };
/** The composite type's number in this database, which the binary form must name. */
export const rowTypeText = "select 'audit_row'::regtype::oid as number";
const columnCount = 6;
const rowBytes = rowHeadBytes + columnCount * columnHeadBytes + 16;
/** A unit that must be written in another way takes five bytes. */
const bytesPerIdUnitMax = 5;
const conditions = {
  staleWriterEpoch: "PA001",
  headElsewhere: "PA002",
  notOnlyGained: "PA004",
  unique: "23505",
} as const;
const eventOnce = "audit_entry_event_once";

/** Bind, Execute and Sync. Not for an empty batch. */
export function auditMessage(batch: AuditBatch, rowType: number, spare: Buffer | undefined): CallMessage {
  const { writerEpoch, after, rows, head } = batch;
  const buffer = bufferOf(bytesMaxOf(batch), spare);
  let at = beginCall(buffer, auditAppend.name, 6);
  at = writeBigintParameter(buffer, at, writerEpoch);
  at = writeBigintParameter(buffer, at, after);
  const rowsAt = at;
  at = beginRows(buffer, rowsAt, rowType, rows.length);
  const timeOf = timesOfRows();
  for (const row of rows) at = writeRow(buffer, at, row, timeOf(row));
  at = closeAt(buffer, rowsAt, at);
  at = writeBigintParameter(buffer, at, head.size);
  at = writeTextParameter(buffer, at, head.hash);
  at = writeTextParameter(buffer, at, head.timestamp);
  return endCall(buffer, at);
}

function bytesMaxOf({ rows, head }: AuditBatch): number {
  let bytes = callBytesMax + (head.hash.length + head.timestamp.length) * bytesPerUnitMax;
  for (const { text, eventId, subjectId, action } of rows) {
    bytes += rowBytes + text.length + (eventId.length + subjectId.length + action.length) * bytesPerIdUnitMax;
  }
  return bytes;
}

function writeRow(buffer: Buffer, from: number, row: NewAuditRow, time: number): number {
  let at = beginRow(buffer, from, columnCount);
  at = writeBigint(buffer, writeHead(buffer, at, types.bigint, 8), row.sequence);
  at = writeText(buffer, at, columnOfText(row.eventId));
  at = writeText(buffer, at, columnOfText(row.subjectId));
  at = writeText(buffer, at, columnOfText(row.action));
  at = writeBytes(buffer, at, row.text);
  at = writeBigint(buffer, writeHead(buffer, at, types.bigint, 8), time);
  return closeAt(buffer, from, at);
}

/** What a failed append means. Only what the server itself refused, and said so in a session that lives on, is certain. */
export function auditAppendFault(thrown: unknown, batch: AuditBatch): Fault {
  const condition = textOf(thrown, "code");
  if (condition === conditions.staleWriterEpoch) return staleWriterEpoch(batch.writerEpoch);
  if (condition === conditions.headElsewhere) return headElsewhere(batch.after);
  if (!isDefiniteCommit(thrown)) return answerLost(batch);
  if (condition === conditions.unique && textOf(thrown, "constraint") === eventOnce) return eventAgain();
  const fault = storeFault(thrown, "appending to the audit log");
  // A conflict says here that the writer epoch is gone for good, and a collision does not.
  if (fault.code !== "STORE_CONFLICT") return fault;
  return new Fault("STORE_UNAVAILABLE", fault.message, { retry: "later", facts: fault.facts });
}

/** The same for a checkpoint. One whose answer was lost may be put again. */
export function checkpointFault(thrown: unknown, writerEpoch: number, size: number): Fault {
  const condition = textOf(thrown, "code");
  if (condition === conditions.staleWriterEpoch) return staleWriterEpoch(writerEpoch);
  if (condition === conditions.notOnlyGained) return notOnlyGained(size);
  const fault = storeFault(thrown, "keeping a checkpoint");
  if (fault.code !== "STORE_CONFLICT") return fault;
  return new Fault("STORE_UNAVAILABLE", fault.message, { retry: "later", facts: fault.facts });
}

/** The same for the index, which may be put right again as well. */
export function repairFault(thrown: unknown, writerEpoch: number): Fault {
  if (textOf(thrown, "code") === conditions.staleWriterEpoch) return staleWriterEpoch(writerEpoch);
  return storeFault(thrown, "putting the audit log's index right");
}

function textOf(thrown: unknown, name: "code" | "constraint"): string {
  if (!(thrown instanceof Error) || !(name in thrown)) return "";
  return String((thrown as Error & Partial<Record<typeof name, unknown>>)[name]);
}

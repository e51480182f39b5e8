// A batch of the journal as PostgreSQL reads it: the message that binds the batch to `risk_append`. Each entry has the types and lengths of its
// columns, in the order of the type `risk_entry`.
import { Defect } from "../../../contracts/src/fault.ts";
import { storedHashBytes } from "../../../core/engine/fast/order-hash.ts";
import type { JournalBatch, JournalEntry, JournalKind } from "../../../ports/risk-store.ts";
import { storableId } from "../storable-text.ts";
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
  uuidBytes,
  writeBigint,
  writeBigintParameter,
  writeBytes,
  writeHead,
  writeText,
  writeUuid,
} from "./call-message.ts";

/** The number of a kind in its column is its place in this list. */
export const kindNames: readonly (JournalKind | undefined)[] = [
  undefined,
  "decision",
  "fill",
  "transition",
  "release",
  "expiry",
  "sent",
  "block",
  "unblock",
  "end",
];
const kindNumbers: Readonly<Record<JournalKind, number>> = {
  decision: 1,
  fill: 2,
  transition: 3,
  release: 4,
  expiry: 5,
  sent: 6,
  block: 7,
  unblock: 8,
  end: 9,
};
const columnCount = 11;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Everything of an entry whose length is known: heads of columns, numbers, hashes. */
const entryBytes = rowHeadBytes + columnCount * columnHeadBytes + 2 + 1 + 8 + uuidBytes + 2 * storedHashBytes;

interface MessageOptions {
  readonly statement: string;
  /** The number of the type `risk_entry`, which differs from database to database. */
  readonly entryType: number;
  /** Written into when it is large enough; what it holds is no longer needed. */
  readonly spare: Buffer | undefined;
}

/** Bind, Execute and Sync. */
export function appendMessage(batch: JournalBatch, options: MessageOptions): CallMessage {
  if (!uuid.test(batch.id)) throw new Defect("the id of a journal batch must be a UUID");
  const buffer = bufferOf(bytesMaxOf(batch), options.spare);
  let at = beginCall(buffer, options.statement, 3);
  at = writeBigintParameter(buffer, at, batch.writerEpoch);
  at = writeUuid(buffer, buffer.writeInt32BE(uuidBytes, at), batch.id);
  const rowsAt = at;
  at = beginRows(buffer, rowsAt, options.entryType, batch.entries.length);
  for (const entry of batch.entries) at = writeEntry(buffer, at, entry);
  return endCall(buffer, closeAt(buffer, rowsAt, at));
}

function bytesMaxOf({ entries }: JournalBatch): number {
  let bytes = callBytesMax;
  for (const { keyHash, bodyHash, payload, fundId, orderId, code, fillId } of entries) {
    if (keyHash !== undefined || bodyHash !== undefined) {
      if (keyHash?.length !== storedHashBytes || bodyHash?.length !== storedHashBytes) {
        throw new Defect(`the hashes of a journal entry have ${storedHashBytes} bytes each`);
      }
    }
    const units = fundId.length + orderId.length + (code?.length ?? 0) + (fillId?.length ?? 0);
    bytes += entryBytes + payload.length + units * bytesPerUnitMax;
  }
  return bytes;
}

function writeEntry(buffer: Buffer, from: number, entry: JournalEntry): number {
  let at = beginRow(buffer, from, columnCount);
  at = buffer.writeInt16BE(kindNumbers[entry.kind], writeHead(buffer, at, types.smallint, 2));
  if (entry.approved === undefined) at = writeHead(buffer, at, types.boolean, -1);
  else at = buffer.writeUInt8(entry.approved ? 1 : 0, writeHead(buffer, at, types.boolean, 1));
  at = writeBigint(buffer, writeHead(buffer, at, types.bigint, 8), entry.at);
  if (entry.decisionId === undefined) at = writeHead(buffer, at, types.uuid, -1);
  else at = writeUuid(buffer, writeHead(buffer, at, types.uuid, uuidBytes), entry.decisionId);
  at = writeBytes(buffer, at, entry.keyHash);
  at = writeBytes(buffer, at, entry.bodyHash);
  at = writeId(buffer, at, entry.fundId);
  at = writeId(buffer, at, entry.orderId);
  at = writeId(buffer, at, entry.code);
  at = writeId(buffer, at, entry.fillId);
  at = writeBytes(buffer, at, entry.payload);
  return closeAt(buffer, from, at);
}

function writeId(buffer: Buffer, at: number, id: string | undefined): number {
  return writeText(buffer, at, id === undefined ? undefined : storableId(id));
}

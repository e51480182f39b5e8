// A batch of the journal as PostgreSQL reads it: the message that binds the batch to `risk_append`, written byte by byte into one buffer in
// the server's own binary form, so that nothing is quoted, written as digits or copied on the way. The layout of the last parameter: an
// array of one dimension, then each entry with the types and lengths of its columns, in the order of the type `risk_entry`.
import { Defect } from "../../contracts/src/fault.ts";
import type { JournalBatch, JournalEntry, JournalKind } from "../../ports/risk-store.ts";
import { storableId } from "./storable-text.ts";

/** The number of a kind in its column is its place in this list. */
export const kindNames: readonly (JournalKind | undefined)[] = [undefined, "decision", "fill", "transition", "release"];
const kindNumbers: Readonly<Record<JournalKind, number>> = { decision: 1, fill: 2, transition: 3, release: 4 };
/** The server's numbers for its own types never change. */
const types = { boolean: 16, bytea: 17, bigint: 20, smallint: 21, text: 25, uuid: 2950 } as const;
const columnCount = 11;
const hashBytes = 16;
const uuidBytes = 16;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Everything of an entry whose length is known: heads of columns, numbers, hashes. */
const entryBytes = 8 + columnCount * 8 + 2 + 1 + 8 + uuidBytes + 2 * hashBytes;
/** A UTF-16 unit takes at most three bytes in UTF-8. */
const bytesPerUnitMax = 3;
/** The names, formats and fixed parameters before the entries, and what stands after them. */
const headBytesMax = 256;
/** A message has less than a gigabyte; this much is already far more than a batch ever has. */
const batchBytesMax = 256_000_000;
const executeBytes = [0x45, 0, 0, 0, 9, 0, 0, 0, 0, 0];
const syncBytes = [0x53, 0, 0, 0, 4];

export interface MessageOptions {
  readonly statement: string;
  /** The number of the type `risk_entry`, which differs from database to database. */
  readonly entryType: number;
  /** Written into when it is large enough; what it holds is no longer needed. */
  readonly spare: Buffer | undefined;
}

/** Bind, Execute and Sync. The whole buffer may be longer than the message that stands at its beginning. */
export function appendMessage(batch: JournalBatch, options: MessageOptions): { buffer: Buffer; length: number } {
  if (!uuid.test(batch.id)) throw new Defect("the id of a journal batch must be a UUID");
  const bytesMax = bytesMaxOf(batch);
  if (bytesMax > batchBytesMax) throw new Defect(`a batch has ${bytesMax} bytes, more than ${batchBytesMax}`);
  const { spare } = options;
  const buffer = spare !== undefined && spare.length >= bytesMax ? spare : Buffer.allocUnsafe(bytesMax * 2);
  buffer[0] = 0x42;
  // An unnamed portal; every parameter in binary form; the answer as text.
  let at = buffer.writeUInt8(0, 5);
  at += buffer.write(options.statement, at, "latin1");
  at = buffer.writeUInt8(0, at);
  at = buffer.writeInt16BE(1, at);
  at = buffer.writeInt16BE(1, at);
  at = buffer.writeInt16BE(3, at);
  at = writeBigint(buffer, buffer.writeInt32BE(8, at), batch.pen);
  at = writeUuid(buffer, buffer.writeInt32BE(uuidBytes, at), batch.id);
  const arrayAt = at + 4;
  at = buffer.writeInt32BE(1, arrayAt);
  at = buffer.writeInt32BE(0, at);
  at = buffer.writeUInt32BE(options.entryType, at);
  at = buffer.writeInt32BE(batch.entries.length, at);
  at = buffer.writeInt32BE(1, at);
  for (const entry of batch.entries) at = writeEntry(buffer, at, entry);
  buffer.writeInt32BE(at - arrayAt, arrayAt - 4);
  at = buffer.writeInt16BE(0, at);
  buffer.writeInt32BE(at - 1, 1);
  buffer.set(executeBytes, at);
  buffer.set(syncBytes, at + executeBytes.length);
  return { buffer, length: at + executeBytes.length + syncBytes.length };
}

function bytesMaxOf({ entries }: JournalBatch): number {
  let bytes = headBytesMax;
  for (const { keyHash, bodyHash, payload, fundId, orderId, code, fillId } of entries) {
    if (keyHash !== undefined || bodyHash !== undefined) {
      if (keyHash?.length !== hashBytes || bodyHash?.length !== hashBytes) {
        throw new Defect(`the hashes of a journal entry have ${hashBytes} bytes each`);
      }
    }
    const units = fundId.length + orderId.length + (code?.length ?? 0) + (fillId?.length ?? 0);
    bytes += entryBytes + payload.length + units * bytesPerUnitMax;
  }
  return bytes;
}

function writeEntry(buffer: Buffer, from: number, entry: JournalEntry): number {
  let at = buffer.writeInt32BE(columnCount, from + 4);
  at = buffer.writeInt16BE(kindNumbers[entry.kind], writeHead(buffer, at, types.smallint, 2));
  if (entry.approved === undefined) at = writeHead(buffer, at, types.boolean, -1);
  else at = buffer.writeUInt8(entry.approved ? 1 : 0, writeHead(buffer, at, types.boolean, 1));
  at = writeBigint(buffer, writeHead(buffer, at, types.bigint, 8), entry.at);
  if (entry.decisionId === undefined) at = writeHead(buffer, at, types.uuid, -1);
  else at = writeUuid(buffer, writeHead(buffer, at, types.uuid, uuidBytes), entry.decisionId);
  at = writeBytes(buffer, at, entry.keyHash);
  at = writeBytes(buffer, at, entry.bodyHash);
  at = writeText(buffer, at, entry.fundId);
  at = writeText(buffer, at, entry.orderId);
  at = writeText(buffer, at, entry.code);
  at = writeText(buffer, at, entry.fillId);
  at = writeBytes(buffer, at, entry.payload);
  buffer.writeInt32BE(at - from - 4, from);
  return at;
}

/** A column's type and length; -1 is null. */
function writeHead(buffer: Buffer, at: number, type: number, length: number): number {
  return buffer.writeInt32BE(length, buffer.writeInt32BE(type, at));
}

function writeBytes(buffer: Buffer, at: number, value: Uint8Array | undefined): number {
  if (value === undefined) return writeHead(buffer, at, types.bytea, -1);
  const place = writeHead(buffer, at, types.bytea, value.length);
  buffer.set(value, place);
  return place + value.length;
}

function writeText(buffer: Buffer, at: number, value: string | undefined): number {
  if (value === undefined) return writeHead(buffer, at, types.text, -1);
  const length = buffer.write(storableId(value), at + 8, "utf8");
  return writeHead(buffer, at, types.text, length) + length;
}

/** Two halves, because a whole number of JavaScript has 53 bits and no need of a bigint on the way. */
function writeBigint(buffer: Buffer, at: number, value: number): number {
  if (!Number.isSafeInteger(value)) throw new Defect(`${value} is not a whole number that can be kept exactly`);
  const high = Math.floor(value / 0x1_0000_0000);
  return buffer.writeUInt32BE(value - high * 0x1_0000_0000, buffer.writeInt32BE(high, at));
}

/** Four digits at a time, between the dashes. */
function writeUuid(buffer: Buffer, at: number, value: string): number {
  let place = at;
  for (let digit = 0; digit < value.length; digit += 2) {
    if (value.charCodeAt(digit) === 45) digit += 1;
    buffer[place] = (nibble(value.charCodeAt(digit)) << 4) | nibble(value.charCodeAt(digit + 1));
    place += 1;
  }
  if (place - at !== uuidBytes) throw new Defect("this is not a UUID");
  return place;
}

function nibble(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  if (code >= 97 && code <= 102) return code - 87;
  throw new Defect("this is not a UUID");
}

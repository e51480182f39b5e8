// A call of one of our SQL functions as PostgreSQL reads it: the message that binds the parameters, written byte by byte into one buffer in
// the server's own binary form, so that nothing is quoted, written as digits or copied on the way. Whoever appends whole batches of rows
// (the journal, the audit log) writes its columns with these; a list of rows is an array of one dimension of a composite type.
import { Defect } from "../../../contracts/src/fault.ts";

/** The server's numbers for its own types never change. */
export const types = { boolean: 16, bytea: 17, bigint: 20, smallint: 21, text: 25, uuid: 2950 } as const;
export const uuidBytes = 16;
/** A UTF-16 unit takes at most three bytes in UTF-8. */
export const bytesPerUnitMax = 3;
/** The length of a row and the number of its columns; the type and the length of a column. */
export const rowHeadBytes = 8;
export const columnHeadBytes = 8;
/** The names and formats before the first parameter, the head of a list of rows, and what stands after the parameters. */
export const callBytesMax = 256;
/** A message has less than a gigabyte; this much is already far more than a batch ever has. */
const messageBytesMax = 256_000_000;
const executeBytes = [0x45, 0, 0, 0, 9, 0, 0, 0, 0, 0];
const syncBytes = [0x53, 0, 0, 0, 4];

/** The whole buffer may be longer than the message that stands at its beginning. */
export interface CallMessage {
  readonly buffer: Buffer;
  readonly length: number;
}

/** The spare buffer when it is large enough, so that the same memory serves batch after batch. */
export function bufferOf(bytesMax: number, spare: Buffer | undefined): Buffer {
  if (bytesMax > messageBytesMax) throw new Defect(`a batch has ${bytesMax} bytes, more than ${messageBytesMax}`);
  return spare !== undefined && spare.length >= bytesMax ? spare : Buffer.allocUnsafe(bytesMax * 2);
}

/** Gives the place of the first parameter: each is a length of four bytes and so many bytes. */
export function beginCall(buffer: Buffer, statement: string, parameterCount: number): number {
  buffer[0] = 0x42;
  // An unnamed portal; every parameter in binary form; the answer as text.
  let at = buffer.writeUInt8(0, 5);
  at += buffer.write(statement, at, "latin1");
  at = buffer.writeUInt8(0, at);
  at = buffer.writeInt16BE(1, at);
  at = buffer.writeInt16BE(1, at);
  return buffer.writeInt16BE(parameterCount, at);
}

/** After the last parameter: the end of Bind, then Execute and Sync. */
export function endCall(buffer: Buffer, end: number): CallMessage {
  const at = buffer.writeInt16BE(0, end);
  buffer.writeInt32BE(at - 1, 1);
  buffer.set(executeBytes, at);
  buffer.set(syncBytes, at + executeBytes.length);
  return { buffer, length: at + executeBytes.length + syncBytes.length };
}

/** The head of a list of rows, which is a parameter; gives the place of the first row. Not for an empty list. */
export function beginRows(buffer: Buffer, from: number, rowType: number, count: number): number {
  let at = buffer.writeInt32BE(1, from + 4);
  at = buffer.writeInt32BE(0, at);
  at = buffer.writeUInt32BE(rowType, at);
  at = buffer.writeInt32BE(count, at);
  return buffer.writeInt32BE(1, at);
}

/** Writes the length of what began at `from`, a list of rows or one row, when its end is known. */
export function closeAt(buffer: Buffer, from: number, end: number): number {
  buffer.writeInt32BE(end - from - 4, from);
  return end;
}

/** Gives the place of the first column. */
export function beginRow(buffer: Buffer, from: number, columnCount: number): number {
  return buffer.writeInt32BE(columnCount, from + 4);
}

/** A column's type and length; -1 is null. */
export function writeHead(buffer: Buffer, at: number, type: number, length: number): number {
  return buffer.writeInt32BE(length, buffer.writeInt32BE(type, at));
}

export function writeBytes(buffer: Buffer, at: number, value: Uint8Array | undefined): number {
  if (value === undefined) return writeHead(buffer, at, types.bytea, -1);
  const place = writeHead(buffer, at, types.bytea, value.length);
  buffer.set(value, place);
  return place + value.length;
}

/** The text must be one that the server can hold. */
export function writeText(buffer: Buffer, at: number, value: string | undefined): number {
  if (value === undefined) return writeHead(buffer, at, types.text, -1);
  const length = buffer.write(value, at + columnHeadBytes, "utf8");
  return writeHead(buffer, at, types.text, length) + length;
}

/** A text as a parameter, which has a length and no type. */
export function writeTextParameter(buffer: Buffer, at: number, value: string): number {
  const length = buffer.write(value, at + 4, "utf8");
  return buffer.writeInt32BE(length, at) + length;
}

export function writeBigintParameter(buffer: Buffer, at: number, value: number): number {
  return writeBigint(buffer, buffer.writeInt32BE(8, at), value);
}

/** Two halves, because a whole number of JavaScript has 53 bits and no need of a bigint on the way. */
export function writeBigint(buffer: Buffer, at: number, value: number): number {
  if (!Number.isSafeInteger(value)) throw new Defect(`${value} is not a whole number that can be kept exactly`);
  const high = Math.floor(value / 0x1_0000_0000);
  return buffer.writeUInt32BE(value - high * 0x1_0000_0000, buffer.writeInt32BE(high, at));
}

/** Four digits at a time, between the dashes. */
export function writeUuid(buffer: Buffer, at: number, value: string): number {
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

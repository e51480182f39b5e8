// An array of composite values in PostgreSQL's binary form, in which a Buffer parameter is sent: nothing is quoted, escaped or written
// as digits on the way, and the server need not parse it. Layout: one dimension, then each value with its columns' types and lengths.
import { Defect } from "../../contracts/src/fault.ts";

/** A column of the composite type, by the server's type of it. Undefined is null. */
export type BinaryColumn<Row> =
  | { readonly type: "smallint" | "bigint"; readonly of: (row: Row) => number }
  | { readonly type: "boolean"; readonly of: (row: Row) => boolean | undefined }
  | { readonly type: "uuid" | "text"; readonly of: (row: Row) => string | undefined }
  | { readonly type: "bytea"; readonly of: (row: Row) => Uint8Array | undefined };

/** The server's numbers for its own types never change. */
const typeNumbers = { boolean: 16, bytea: 17, bigint: 20, smallint: 21, text: 25, uuid: 2950 } as const;
const arrayHeaderBytes = 20;
/** Per value its length and the count of its columns; per column its type and length. */
const rowHeaderBytes = 8;
const columnHeaderBytes = 8;
const numberBytesMax = 8;
const uuidBytes = 16;
/** A UTF-16 unit takes at most three bytes in UTF-8. */
const bytesPerUnitMax = 3;

/** `typeNumber` is the composite type's own, which differs from database to database. */
export function binaryRows<Row>(
  typeNumber: number,
  columns: readonly BinaryColumn<Row>[],
  rows: readonly Row[],
): Buffer {
  let bytesMax = arrayHeaderBytes;
  for (const row of rows) for (const column of columns) bytesMax += columnHeaderBytes + bytesMaxOf(column, row);
  const buffer = Buffer.allocUnsafe(bytesMax + rows.length * rowHeaderBytes);
  let at = buffer.writeInt32BE(1, 0);
  at = buffer.writeInt32BE(0, at);
  at = buffer.writeUInt32BE(typeNumber, at);
  at = buffer.writeInt32BE(rows.length, at);
  at = buffer.writeInt32BE(1, at);
  for (const row of rows) {
    const start = at;
    at = buffer.writeInt32BE(columns.length, at + 4);
    for (const column of columns) {
      at = buffer.writeInt32BE(typeNumbers[column.type], at);
      const length = written(column, row, buffer, at + 4);
      buffer.writeInt32BE(length, at);
      at += 4 + Math.max(length, 0);
    }
    buffer.writeInt32BE(at - start - 4, start);
  }
  return buffer.subarray(0, at);
}

function bytesMaxOf<Row>(column: BinaryColumn<Row>, row: Row): number {
  if (column.type === "text") return (column.of(row)?.length ?? 0) * bytesPerUnitMax;
  if (column.type === "bytea") return column.of(row)?.length ?? 0;
  return column.type === "uuid" ? uuidBytes : numberBytesMax;
}

/** How many bytes it took; -1 is null. */
function written<Row>(column: BinaryColumn<Row>, row: Row, buffer: Buffer, at: number): number {
  switch (column.type) {
    case "smallint":
      return buffer.writeInt16BE(column.of(row), at) - at;
    case "bigint":
      return writtenBigint(column.of(row), buffer, at);
    case "boolean": {
      const value = column.of(row);
      return value === undefined ? -1 : buffer.writeInt8(value ? 1 : 0, at) - at;
    }
    case "text": {
      const value = column.of(row);
      return value === undefined ? -1 : buffer.write(value, at, "utf8");
    }
    case "bytea": {
      const value = column.of(row);
      if (value === undefined) return -1;
      buffer.set(value, at);
      return value.length;
    }
    case "uuid": {
      const value = column.of(row);
      return value === undefined ? -1 : writtenUuid(value, buffer, at);
    }
  }
}

/** Two halves, because a whole number of JavaScript has 53 bits and no need of a bigint on the way. */
function writtenBigint(value: number, buffer: Buffer, at: number): number {
  if (!Number.isSafeInteger(value)) throw new Defect(`${value} is not a whole number that can be kept exactly`);
  const high = Math.floor(value / 0x1_0000_0000);
  buffer.writeInt32BE(high, at);
  buffer.writeUInt32BE(value - high * 0x1_0000_0000, at + 4);
  return 8;
}

function writtenUuid(value: string, buffer: Buffer, at: number): number {
  const length = buffer.write(value.replaceAll("-", ""), at, "hex");
  if (length !== uuidBytes) throw new Defect("this is not a UUID");
  return length;
}

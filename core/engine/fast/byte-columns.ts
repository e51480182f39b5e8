// Writing and reading the few kinds of values that a view is made of, as bytes: small, fast, and the same on every machine. One writer is
// used again and again; what it wrote is copied out.
import { Defect } from "../../../contracts/src/fault.ts";

/**
 * Memory that records are cut from comes in pieces of this size: full after a few orders, so that a piece dies young. One that outlives two small collections
 * is kept until the next large one, with all its memory.
 */
export const pieceBytes = 16_384;
const absent = 0xff;
const negative = 0x80;
const wide = 0x8000;
const textLengthMax = 0x7fff;
const limbMax = 2n ** 64n - 1n;

export interface ByteWriter {
  reset(): void;
  byte(value: number): void;
  number(value: number): void;
  /** Any whole number; undefined stays undefined. */
  integer(value: bigint | undefined): void;
  /** At most 32,767 characters; a longer text is cut. Undefined stays undefined. */
  text(value: string | undefined): void;
  bytes(value: Uint8Array): void;
  /** What was written since the last was taken; nobody writes there again. */
  take(): Uint8Array;
}

export function createByteWriter(): ByteWriter {
  // As in wire-writer: records stand behind each other in one piece of memory and leave as parts of it.
  let content = new Uint8Array(pieceBytes);
  let view = new DataView(content.buffer);
  let start = 0;
  let size = 0;

  function room(count: number): void {
    if (size + count <= content.length) return;
    const next = new Uint8Array(Math.max(pieceBytes, (size - start + count) * 2));
    next.set(content.subarray(start, size));
    content = next;
    view = new DataView(content.buffer);
    size -= start;
    start = 0;
  }

  function limbs(magnitude: bigint): number {
    if (magnitude === 0n) return 0;
    let rest = magnitude;
    let count = 1;
    room(8);
    // Takes the lowest 64 bits by itself.
    view.setBigUint64(size, rest, true);
    size += 8;
    while (rest > limbMax) {
      rest >>= 64n;
      room(8);
      view.setBigUint64(size, rest, true);
      size += 8;
      count += 1;
    }
    return count;
  }

  return {
    reset() {
      size = start;
    },
    byte(value) {
      room(1);
      content[size] = value;
      size += 1;
    },
    number(value) {
      room(8);
      view.setFloat64(size, value, true);
      size += 8;
    },
    integer(value) {
      room(1);
      const head = size - start;
      size += 1;
      const written = value === undefined ? absent : value < 0n ? limbs(-value) | negative : limbs(value);
      content[start + head] = written;
    },
    text(value) {
      room(2);
      if (value === undefined) {
        view.setUint16(size, 0xffff, true);
        size += 2;
        return;
      }
      const length = Math.min(value.length, textLengthMax - 1);
      room(2 + length * 2);
      const head = size;
      size += 2;
      let isNarrow = true;
      for (let index = 0; index < length; index += 1) {
        const code = value.charCodeAt(index);
        if (code > 0x7f) {
          isNarrow = false;
          break;
        }
        content[size + index] = code;
      }
      if (!isNarrow) {
        for (let index = 0; index < length; index += 1) {
          view.setUint16(size + index * 2, value.charCodeAt(index), true);
        }
      }
      view.setUint16(head, isNarrow ? length : length | wide, true);
      size += isNarrow ? length : length * 2;
    },
    bytes(value) {
      room(value.length);
      content.set(value, size);
      size += value.length;
    },
    take() {
      const taken = content.subarray(start, size);
      start = size;
      return taken;
    },
  };
}

export interface ByteReader {
  byte(): number;
  number(): number;
  integer(): bigint | undefined;
  text(): string | undefined;
}

/** What was not written by the writer above is a Defect: nobody else writes these. */
export function createByteReader(content: Uint8Array): ByteReader {
  const view = new DataView(content.buffer, content.byteOffset, content.byteLength);
  let place = 0;

  function advance(count: number): number {
    const from = place;
    place += count;
    if (place > content.length) throw new Defect("recorded inputs end before they should");
    return from;
  }

  return {
    byte: () => view.getUint8(advance(1)),
    number: () => view.getFloat64(advance(8), true),
    integer() {
      const head = view.getUint8(advance(1));
      if (head === absent) return undefined;
      let value = 0n;
      const count = head & ~negative;
      for (let limb = 0; limb < count; limb += 1) {
        value |= view.getBigUint64(advance(8), true) << BigInt(limb * 64);
      }
      return (head & negative) === 0 ? value : -value;
    },
    text() {
      const head = view.getUint16(advance(2), true);
      if (head === 0xffff) return undefined;
      const length = head & ~wide;
      const isWide = (head & wide) !== 0;
      const from = advance(isWide ? length * 2 : length);
      let value = "";
      for (let index = 0; index < length; index += 1) {
        value += String.fromCharCode(isWide ? view.getUint16(from + index * 2, true) : view.getUint8(from + index));
      }
      return value;
    },
  };
}

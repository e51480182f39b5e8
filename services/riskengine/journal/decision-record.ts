// A decision's record as it is stored: a DecisionRecord message, written by hand, because the order stands in it as it came and is never
// encoded a second time.
import { pieceBytes } from "../../../core/engine/fast/byte-columns.ts";

/** Field numbers of DecisionRecord in riskdesk.proto; all three are length-delimited. */
const orderTag = (1 << 3) | 2;
const decisionTag = (2 << 3) | 2;
const inputsTag = (3 << 3) | 2;

export type PackDecisionRecord = (order: Uint8Array, decision: Uint8Array, inputs: Uint8Array) => Uint8Array;

/** Records stand behind each other in one piece of memory and leave as parts of it; a full piece belongs to those who hold parts of it. */
export function createRecordPacker(): PackDecisionRecord {
  let piece = new Uint8Array(pieceBytes);
  let used = 0;
  return (order, decision, inputs) => {
    const size = sizeOf(order) + sizeOf(decision) + sizeOf(inputs);
    if (used + size > piece.length) {
      piece = new Uint8Array(Math.max(pieceBytes, size));
      used = 0;
    }
    const start = used;
    used = writeField(piece, used, orderTag, order);
    used = writeField(piece, used, decisionTag, decision);
    used = writeField(piece, used, inputsTag, inputs);
    return piece.subarray(start, used);
  };
}

function sizeOf(content: Uint8Array): number {
  return 1 + varintSize(content.length) + content.length;
}

function varintSize(value: number): number {
  let size = 1;
  for (let rest = value; rest > 0x7f; rest >>>= 7) size += 1;
  return size;
}

function writeField(into: Uint8Array, at: number, tag: number, content: Uint8Array): number {
  let place = at;
  into[place] = tag;
  place += 1;
  let rest = content.length;
  while (rest > 0x7f) {
    into[place] = (rest & 0x7f) | 0x80;
    place += 1;
    rest >>>= 7;
  }
  into[place] = rest;
  place += 1;
  into.set(content, place);
  return place + content.length;
}

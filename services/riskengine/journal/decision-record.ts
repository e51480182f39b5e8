// A decision's record as it is stored: a DecisionRecord message, written by hand, because the order stands in it as it came and is never
// encoded a second time.
import { pieceBytes } from "../../../core/engine/fast/byte-columns.ts";

/** Field numbers of DecisionRecord in riskdesk.proto; all four are length-delimited. */
const orderTag = (1 << 3) | 2;
const decisionTag = (2 << 3) | 2;
const inputsTag = (3 << 3) | 2;
const askedByTag = (4 << 3) | 2;

type PackDecisionRecord = (order: Uint8Array, decision: Uint8Array, inputs: Uint8Array, askedBy: string) => Uint8Array;

/** Callers are few, and each asks often. */
const actorsMax = 1_000;

/** Records stand behind each other in one piece of memory and leave as parts of it; a full piece belongs to those who hold parts of it. */
export function createRecordPacker(): PackDecisionRecord {
  let piece = new Uint8Array(pieceBytes);
  let used = 0;
  const encoder = new TextEncoder();
  const actors = new Map<string, Uint8Array>();
  const actorBytes = (actor: string): Uint8Array => {
    const known = actors.get(actor);
    if (known !== undefined) return known;
    if (actors.size >= actorsMax) actors.clear();
    const bytes = encoder.encode(actor);
    actors.set(actor, bytes);
    return bytes;
  };
  return (order, decision, inputs, askedBy) => {
    const actor = actorBytes(askedBy);
    const size = sizeOf(order) + sizeOf(decision) + sizeOf(inputs) + (actor.length === 0 ? 0 : sizeOf(actor));
    if (used + size > piece.length) {
      piece = new Uint8Array(Math.max(pieceBytes, size));
      used = 0;
    }
    const start = used;
    used = writeField(piece, used, orderTag, order);
    used = writeField(piece, used, decisionTag, decision);
    used = writeField(piece, used, inputsTag, inputs);
    if (actor.length > 0) used = writeField(piece, used, askedByTag, actor);
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

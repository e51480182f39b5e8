// Where things stand in the text of an entry, found in one pass over its bytes that also tells whether it is one: eight fields (or the six that
// are hashed), in their order, of their types, canonical, within their limits. Nothing is built, so that a verifier can read every entry
// of a log this way.
import { levelsMax, textBytesMax } from "./canonical/canonical-json.ts";
import {
  createScanRoom,
  failedAt,
  fillRoom,
  type ScanRoom,
  scanInteger,
  scanObject,
  scanString,
  scanWord,
  word,
} from "./canonical/canonical-scan.ts";
import { hexLength } from "./hash.ts";
import { scanTimestamp } from "./timestamp.ts";

/** In Unicode characters. */
export const actionCharactersMax = 128;
export const actorCharactersMax = 256;
export const subjectCharactersMax = 256;

/** Of the run `,"hash":"…","prev_hash":"…"`, which the text of the six fields does not have. */
export const hashRunLength = 2 * hexLength + `,"hash":"","prev_hash":""`.length;

/** Positions are those in the room where the text was put. */
interface EntryLayout {
  /** Where `,"hash":` begins; in the text of six, where it would. */
  hashRun: number;
  /** The first digit of `hash` and of `prev_hash`; not set by the text of six. */
  hash: number;
  prevHash: number;
  /** Where `,"sequence":` begins. */
  sequenceRun: number;
  sequence: number;
  /** The first character of `timestamp`, behind its quotation mark. */
  timestamp: number;
}

export function createEntryLayout(): EntryLayout {
  return { hashRun: 0, hash: 0, prevHash: 0, sequenceRun: 0, sequence: 0, timestamp: 0 };
}

const beforeAction = word(`{"action":`);
const beforeActor = word(`,"actor":`);
const beforeData = word(`,"data":`);
const beforeHash = word(`,"hash":"`);
const beforePrevHash = word(`","prev_hash":"`);
const beforeSequence = word(`","sequence":`);
const beforeSequenceOfSix = word(`,"sequence":`);
const beforeSubject = word(`,"subject_id":`);
const beforeTimestamp = word(`,"timestamp":"`);
const quote = 0x22;
const braceClose = 0x7d;

/**
 * Reads the text of all eight fields, which stands in the room between the two positions. Answers its end, or -1 minus the position where it is
 * no such text.
 */
export function readEntryLayout(room: ScanRoom, start: number, end: number, layout: EntryLayout): number {
  if (end - start > textBytesMax) return failedAt(start + textBytesMax);
  let at = readHead(room, start, layout);
  if (at < 0) return at;
  at = scanWord(room, at, beforeHash);
  if (at < 0) return at;
  layout.hash = at;
  at = scanHex(room, at);
  if (at < 0) return at;
  at = scanWord(room, at, beforePrevHash);
  if (at < 0) return at;
  layout.prevHash = at;
  at = scanHex(room, at);
  if (at < 0) return at;
  layout.sequenceRun = at + 1;
  at = scanWord(room, at, beforeSequence);
  return at < 0 ? at : readTail(room, at, end, layout);
}

/** The same for the text of the six fields that are hashed. */
export function readHashedLayout(room: ScanRoom, start: number, end: number, layout: EntryLayout): number {
  if (end - start > textBytesMax - hashRunLength) return failedAt(start + textBytesMax - hashRunLength);
  let at = readHead(room, start, layout);
  if (at < 0) return at;
  layout.sequenceRun = at;
  at = scanWord(room, at, beforeSequenceOfSix);
  return at < 0 ? at : readTail(room, at, end, layout);
}

/** The layout of a text by itself, from position 0 on; undefined when it is not the text of an entry. */
export function layoutOf(text: Uint8Array, read: typeof readEntryLayout): EntryLayout | undefined {
  if (text.length > textBytesMax) return undefined;
  const room = createScanRoom(text.length);
  const layout = createEntryLayout();
  return read(room, 0, fillRoom(room, text, 0), layout) < 0 ? undefined : layout;
}

function readHead(room: ScanRoom, start: number, layout: EntryLayout): number {
  let at = scanWord(room, start, beforeAction);
  if (at < 0) return at;
  at = scanField(room, at, actionCharactersMax);
  if (at < 0) return at;
  at = scanWord(room, at, beforeActor);
  if (at < 0) return at;
  at = scanField(room, at, actorCharactersMax);
  if (at < 0) return at;
  at = scanWord(room, at, beforeData);
  if (at < 0) return at;
  at = scanObject(room, at, levelsMax - 1);
  layout.hashRun = at;
  return at;
}

function readTail(room: ScanRoom, start: number, end: number, layout: EntryLayout): number {
  const { bytes } = room;
  let at = scanInteger(room, start);
  if (at < 0) return at;
  layout.sequence = numberBetween(room, start, at);
  if (layout.sequence < 0) return failedAt(start);
  at = scanWord(room, at, beforeSubject);
  if (at < 0) return at;
  at = scanField(room, at, subjectCharactersMax);
  if (at < 0) return at;
  at = scanWord(room, at, beforeTimestamp);
  if (at < 0) return at;
  layout.timestamp = at;
  at = scanTimestamp(room, at);
  if (at < 0) return at;
  if (bytes[at] !== quote || bytes[at + 1] !== braceClose) return failedAt(at);
  return at + 2 === end ? end : failedAt(at + 2);
}

/** The digits were scanned; a minus sign is -1. */
function numberBetween({ bytes }: ScanRoom, start: number, end: number): number {
  if (bytes[start] === 0x2d) return -1;
  let value = 0;
  for (let at = start; at < end; at += 1) value = value * 10 + ((bytes[at] ?? 0) - 0x30);
  return value;
}

function scanField(room: ScanRoom, start: number, charactersMax: number): number {
  const end = scanString(room, start);
  if (end < 0) return end;
  const length = end - start - 2;
  if (length === 0) return failedAt(start);
  // There are never more characters than bytes, so that most fields need not be counted.
  return length > charactersMax && countCharacters(room, start, end) > charactersMax ? failedAt(start) : end;
}

/** Characters between the quotation marks; an escape is one. */
function countCharacters({ bytes }: ScanRoom, start: number, end: number): number {
  let count = 0;
  for (let at = start + 1; at < end - 1; count += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === 0x5c) at += bytes[at + 1] === 0x75 ? 6 : 2;
    else at += byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
  }
  return count;
}

function scanHex({ bytes, view }: ScanRoom, start: number): number {
  const end = start + hexLength;
  for (let at = start; at < end; at += 4) {
    const four = view.getInt32(at, true);
    if (!isFourHex(four)) return failedAt(firstNoHex(bytes, at));
  }
  return end;
}

/** Whether four bytes are all 0 to 9 or a to f. */
function isFourHex(four: number): boolean {
  // Above ASCII, below 0, above f: the highest bit shows it. Then what lies between 9 and a: above 9 and below a.
  const outside = four | (four - 0x30303030) | (four + 0x19191919);
  const aboveNine = four + 0x46464646;
  const fromA = four + 0x1f1f1f1f;
  return ((outside | (aboveNine & ~fromA)) & 0x80808080) === 0;
}

function firstNoHex(bytes: Uint8Array, start: number): number {
  let at = start;
  while (isHexDigit(bytes[at] ?? 0)) at += 1;
  return at;
}

function isHexDigit(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || (byte >= 0x61 && byte <= 0x66);
}

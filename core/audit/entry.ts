// An entry of the log: made from its fields, and read back from its text, as docs/audit-format.md says. What is stored, hashed and verified is the
// text; the record is only ever a reading of it.
import { parseJson } from "../../contracts/src/parse-json.ts";
import {
  canonicalJson,
  decodeUtf8,
  type JsonObject,
  textBytesMax,
  utf8,
  utf8Into,
  ValueRefused,
} from "./canonical/canonical-json.ts";
import { asciiBytes } from "./canonical/canonical-scan.ts";
import { createPlainWriter, noRoom } from "./canonical/plain-json.ts";
import {
  actionCharactersMax,
  actorCharactersMax,
  hashRunLength,
  layoutOf,
  readEntryLayout,
  readHashedLayout,
  subjectCharactersMax,
} from "./entry-layout.ts";
import {
  asHash,
  type Hash,
  hexLength,
  hexOfHash,
  isHashHex,
  type Sha256OfBytes,
  textOfBytes,
  writeHex,
  zeroHex,
} from "./hash.ts";
import { isTimestamp } from "./timestamp.ts";

/** What the writer decides; the hash follows. */
export interface EntryFields {
  readonly sequence: number;
  readonly timestamp: string;
  readonly actor: string;
  readonly action: string;
  readonly subject_id: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly prev_hash: string;
}

/** What the text of an entry says. */
export interface EntryRecord extends EntryFields {
  readonly data: JsonObject;
  readonly hash: string;
}

export interface Entry {
  /** Canonical JSON of all eight fields, in UTF-8: the bytes to keep. A view: its buffer is larger. */
  readonly text: Uint8Array;
  /** 64 lower-case hex digits. */
  readonly hash: string;
  /** The leaf of the tree: the hash of the text. */
  readonly leaf: Hash;
}

type FieldsOfData = Omit<EntryFields, "data">;

/** Makes one entry after another. Throws ValueRefused for whatever the format does not allow. */
export interface EntryMaker {
  /** The data comes as its canonical text. */
  ofText(fields: FieldsOfData, data: string): Entry;
  /**
   * The data comes as plain-json.ts wants it, with one more member behind its own, as canonical text with its name. Undefined when it must
   * go the careful way, as text.
   */
  ofPlain(fields: FieldsOfData, data: Readonly<Record<string, unknown>>, member: string): Entry | undefined;
}

/** Makes an entry. Throws ValueRefused for whatever the format does not allow. */
export function makeEntry(fields: EntryFields, sha256: Sha256OfBytes): Entry {
  return createEntryMaker(sha256).ofText(fields, dataText(fields.data));
}

/** Texts of many entries share a piece of memory: one of their own for each costs as much as its hash. */
const pieceBytes = 2 * 65_536;

// tidy: long because both ways of making an entry share memory and what was read before.
export function createEntryMaker(sha256: Sha256OfBytes): EntryMaker {
  // What the entry before was made of or came to need not be read again.
  let goodTimestamp: string | undefined;
  let goodHash = zeroHex;
  /** What is hashed is only needed while it is. */
  let hashedRoom = new Uint8Array(0);
  let piece = new Uint8Array(0);
  let pieceAt = 0;
  const writer = createPlainWriter();
  const digits = new Uint8Array(hexLength);

  function encode(text: string): Uint8Array {
    if (hashedRoom.length < text.length * 3) hashedRoom = new Uint8Array(text.length * 4);
    return utf8Into(text, hashedRoom);
  }

  function beginPiece(length: number): void {
    piece = new Uint8Array(length);
    pieceAt = 0;
    writer.setRoom(piece, length - hashRunLength);
  }

  /** The first gets just what it needs: most who make a single entry make no other. */
  function take(length: number): Uint8Array {
    if (pieceAt + length > piece.length) beginPiece(piece.length === 0 ? length : Math.max(length, pieceBytes));
    const taken = piece.subarray(pieceAt, pieceAt + length);
    pieceAt += length;
    return taken;
  }

  function lookAtFields({ sequence, timestamp, prev_hash: prevHash }: FieldsOfData): void {
    if (!Number.isSafeInteger(sequence) || sequence < 0 || Object.is(sequence, -0)) {
      throw new ValueRefused("sequence", "not a whole number from 0 on");
    }
    if (timestamp !== goodTimestamp && (typeof timestamp !== "string" || !isTimestamp(timestamp))) {
      throw new ValueRefused("timestamp", "not a time such as 2026-11-15T09:30:00.000000Z");
    }
    goodTimestamp = timestamp;
    if (prevHash !== goodHash && (typeof prevHash !== "string" || !isHashHex(prevHash))) {
      throw new ValueRefused("prev_hash", "not 64 lower-case hex digits");
    }
    if (sequence === 0 && prevHash !== zeroHex) throw new ValueRefused("prev_hash", "nothing comes before entry 0");
  }

  /** Where the place of the two hashes is in what was written last. */
  let hashRun = 0;

  /** What is hashed, into the piece; answers where it ends, or a number below zero. */
  function writeHashed(fields: FieldsOfData, data: Readonly<Record<string, unknown>>, member: string): number {
    let at = writer.ascii(fields.prev_hash, pieceAt);
    if (at >= 0) at = writer.ascii(`{"action":`, at);
    if (at >= 0) at = writer.quoted(fields.action, at);
    if (at >= 0) at = writer.ascii(`,"actor":`, at);
    if (at >= 0) at = writer.quoted(fields.actor, at);
    if (at >= 0) at = writer.ascii(`,"data":`, at);
    const dataAt = at;
    if (at >= 0) at = writer.value(data, at);
    // The member goes to where the brace is, behind a comma if it is not the first.
    if (at >= 0) at = writer.ascii(at - dataAt > 2 ? `,${member}}` : `${member}}`, at - 1);
    hashRun = at;
    if (at >= 0) at = writer.ascii(`,"sequence":${fields.sequence},"subject_id":`, at);
    if (at >= 0) at = writer.quoted(fields.subject_id, at);
    return at < 0 ? at : writer.ascii(`,"timestamp":"${fields.timestamp}"}`, at);
  }

  /** Makes room for the two hashes in what was hashed, from that place to that one, and answers where it ends then. */
  function insertHashes(start: number, end: number): number {
    piece.copyWithin(hashRun + hashRunLength, hashRun, end);
    const hashAt = hashRun + beforeHash.length;
    const prevHashAt = hashAt + hexLength + beforePrevHash.length;
    piece.set(beforeHash, hashRun);
    piece.set(digits, hashAt);
    piece.set(beforePrevHash, hashAt + hexLength);
    piece.copyWithin(prevHashAt, start, start + hexLength);
    piece[prevHashAt + hexLength] = quote;
    return end + hashRunLength;
  }

  return {
    ofPlain(fields, data, member) {
      lookAtFields(fields);
      const { action, actor, subject_id: subjectId } = fields;
      const areShort = isShort(action, actionCharactersMax) && isShort(actor, actorCharactersMax);
      if (!areShort || !isShort(subjectId, subjectCharactersMax)) return undefined;
      if (piece.length < pieceBytes) beginPiece(pieceBytes);
      let end = writeHashed(fields, data, member);
      if (end === noRoom && pieceAt > 0) {
        beginPiece(pieceBytes);
        end = writeHashed(fields, data, member);
      }
      const start = pieceAt;
      if (end < 0 || end - start - hexLength + hashRunLength > textBytesMax) return undefined;
      writeHex(asHash(sha256(piece.subarray(start, end))), digits);
      goodHash = textOfBytes(digits);
      pieceAt = insertHashes(start, end);
      // The text stands behind the zero byte with which a leaf is hashed, where the last digit of the hash before was.
      const textAt = start + hexLength;
      piece[textAt - 1] = 0;
      const leaf = asHash(sha256(piece.subarray(textAt - 1, pieceAt)));
      return { text: piece.subarray(textAt, pieceAt), hash: goodHash, leaf };
    },
    ofText(fields, data) {
      lookAtFields(fields);
      const { head, tail } = writtenFields(fields, data);
      const hashed = encode(fields.prev_hash + head + tail);
      const length = hashed.length - hexLength + hashRunLength;
      if (length > textBytesMax) throw new ValueRefused("", `${length} bytes, more than ${textBytesMax}`);
      writeHex(asHash(sha256(hashed)), digits);
      const isAscii = hashed.length === hexLength + head.length + tail.length;
      const run = hashed.length - hexLength - (isAscii ? tail.length : utf8(tail).length);
      // One piece of memory instead of two: the text stands behind the zero byte with which a leaf is hashed.
      const marked = take(1 + length);
      marked[0] = 0;
      const text = marked.subarray(1);
      join(text, hashed.subarray(hexLength), run, digits, hashed.subarray(0, hexLength));
      goodHash = textOfBytes(digits);
      return { text, hash: goodHash, leaf: asHash(sha256(marked)) };
    },
  };
}

/** A text that is not empty, and not too long whatever its characters are. */
function isShort(text: unknown, charactersMax: number): boolean {
  return typeof text === "string" && text.length > 0 && text.length <= charactersMax;
}

/** The text of the six fields around the place of the two hashes. */
function writtenFields(fields: Omit<EntryFields, "data">, data: string): { head: string; tail: string } {
  const { sequence, timestamp, actor, action, subject_id: subjectId } = fields;
  const actionText = fieldText("action", action, actionCharactersMax);
  const actorText = fieldText("actor", actor, actorCharactersMax);
  const subjectText = fieldText("subject_id", subjectId, subjectCharactersMax);
  return {
    head: `{"action":${actionText},"actor":${actorText},"data":${data}`,
    tail: `,"sequence":${sequence},"subject_id":${subjectText},"timestamp":"${timestamp}"}`,
  };
}

function fieldText(name: string, value: unknown, charactersMax: number): string {
  if (typeof value !== "string") throw new ValueRefused(name, "not a text");
  if (value.length === 0) throw new ValueRefused(name, "empty");
  // Twice as many units as characters at most: whatever is longer need not be counted.
  if (value.length > charactersMax * 2 || (value.length > charactersMax && [...value].length > charactersMax)) {
    throw new ValueRefused(name, `longer than ${charactersMax} characters`);
  }
  return canonicalJson(value);
}

/** The canonical text of the data of an entry. Throws ValueRefused. */
export function dataText(data: unknown): string {
  let text: string;
  try {
    text = canonicalJson(data);
  } catch (refused) {
    if (!(refused instanceof ValueRefused)) throw refused;
    const dot = refused.path === "" || refused.path.startsWith("[") ? "" : ".";
    throw new ValueRefused(`data${dot}${refused.path}`, refused.why);
  }
  if (!text.startsWith("{")) throw new ValueRefused("data", "not an object");
  return text;
}

const beforeHash = asciiBytes(`,"hash":"`);
const beforePrevHash = asciiBytes(`","prev_hash":"`);
const quote = 0x22;

function join(text: Uint8Array, six: Uint8Array, hashRun: number, hash: Uint8Array, prevHash: Uint8Array): void {
  text.set(six);
  text.copyWithin(hashRun + hashRunLength, hashRun, six.length);
  text.set(beforeHash, hashRun);
  text.set(hash, hashRun + beforeHash.length);
  text.set(beforePrevHash, hashRun + beforeHash.length + hexLength);
  text.set(prevHash, hashRun + hashRunLength - hexLength - 1);
  text[hashRun + hashRunLength - 1] = quote;
}

/** The text of the six hashed fields, from that of all eight; undefined when it is no entry. */
export function withoutHashes(text: Uint8Array): Uint8Array | undefined {
  const layout = layoutOf(text, readEntryLayout);
  if (layout === undefined) return undefined;
  const six = new Uint8Array(text.length - hashRunLength);
  six.set(text.subarray(0, layout.hashRun));
  six.set(text.subarray(layout.sequenceRun), layout.hashRun);
  return six;
}

/** The text of all eight fields, from that of the six hashed ones; undefined when the parts do not make an entry. */
export function withHashes(six: Uint8Array, hash: string, prevHash: string): Uint8Array | undefined {
  const layout = isHashHex(hash) && isHashHex(prevHash) ? layoutOf(six, readHashedLayout) : undefined;
  if (layout === undefined) return undefined;
  const text = new Uint8Array(six.length + hashRunLength);
  join(text, six, layout.hashRun, asciiBytes(hash), asciiBytes(prevHash));
  return text;
}

/** What the text says; undefined when it is not the canonical text of an entry. Whether its hash is right is not checked. */
export function readEntry(text: Uint8Array): EntryRecord | undefined {
  if (layoutOf(text, readEntryLayout) === undefined) return undefined;
  return parseJson(decodeUtf8(text)) as EntryRecord;
}

/** The hash that an entry of these six fields after that one has: 64 lower-case hex digits. */
export function hashOfSix(prevHash: string, six: Uint8Array, sha256: Sha256OfBytes): string {
  const hashed = new Uint8Array(hexLength + six.length);
  hashed.set(asciiBytes(prevHash));
  hashed.set(six, hexLength);
  return hexOfHash(asHash(sha256(hashed)));
}

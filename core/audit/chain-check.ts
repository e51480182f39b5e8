// Reads the texts of entries one after another and says where they stop being a chain. It works on the bytes as they are stored: nothing is parsed
// into objects and written again, because what would be compared then is our encoder with itself.
//
// What is checked, in this order: is it an entry at all, is it the next one, does it follow the one before, is its hash that of its content, is
// it earlier than the one before, and, of entry 0, does it begin a log. The first fault is the answer, now and for whatever comes after.
import { textBytesMax } from "./canonical/canonical-json.ts";
import { asciiBytes, createScanRoom, fillRoom, type ScanRoom } from "./canonical/canonical-scan.ts";
import { readEntry } from "./entry.ts";
import { createEntryLayout, hashRunLength, readEntryLayout } from "./entry-layout.ts";
import type { AuditFault, AuditFaultCode } from "./fault.ts";
import { genesisFault } from "./genesis.ts";
import { asHash, hashLength, hexLength, hexOfHash, isHashHex, type Sha256OfBytes, zeroHex } from "./hash.ts";
import { isEarlier, isTimestamp, timestampLength } from "./timestamp.ts";

type ChainFaultCode = Extract<
  AuditFaultCode,
  "ENTRY_MALFORMED" | "SEQUENCE_MISMATCH" | "LINK_MISMATCH" | "HASH_MISMATCH" | "TIME_BACKWARDS" | "GENESIS_MISMATCH"
>;

/** Its sequence is the place in the chain, whatever number stands in the text. */
export interface ChainFault extends AuditFault {
  readonly code: ChainFaultCode;
}

export interface ChainCheckOptions {
  readonly sha256: Sha256OfBytes;
  /** The sequence of the first entry that will be shown. */
  readonly from: number;
  /** The hash of the entry before. Without it the link of the first entry is taken as it stands: only a tree can say more. */
  readonly prevHash?: string;
  readonly lastTimestamp?: string;
  /** Of entry 0; without it any origin is good. */
  readonly origin?: string;
}

export interface ChainCheck {
  next(text: Uint8Array): ChainFault | undefined;
  /** The sequence of the entry that is to come: also how many there are when it began at 0. */
  readonly sequence: number;
  /** The hash of the last good entry; undefined before the first when it was not given. */
  readonly hash: string | undefined;
  readonly timestamp: string | undefined;
}

// The room: the time of the entry before, the digits of the hash that this one claims, those of the hash before, and behind them the text. Cut two
// fields out of it, and what is hashed stands in one piece.
const timeAt = 0;
const claimedAt = 32;
const prevAt = claimedAt + hexLength;
const textAt = prevAt + hexLength;
const roomBytesFirst = 4_096;

export function createChainCheck(options: ChainCheckOptions): ChainCheck {
  const { sha256, from, prevHash, lastTimestamp, origin } = options;
  refuseOptions(options);
  const layout = createEntryLayout();
  let room = createScanRoom(roomBytesFirst);
  let { bytes } = room;
  let isLinked = prevHash !== undefined || from === 0;
  let isTimed = lastTimestamp !== undefined;
  bytes.set(asciiBytes(prevHash ?? zeroHex), prevAt);
  if (lastTimestamp !== undefined) bytes.set(asciiBytes(lastTimestamp), timeAt);
  let sequence = from;
  let found: ChainFault | undefined;

  function fault(code: ChainFaultCode, expected: string, actual: string): ChainFault {
    return { code, sequence, expected, actual };
  }

  function malformed(length: number, at: number): ChainFault {
    return fault("ENTRY_MALFORMED", "the canonical text of an entry", `${length} bytes, wrong at byte ${at}`);
  }

  /** Few entries are long: room for the longest is made when the first long one comes. */
  function makeRoom(): void {
    if (bytes.length > textBytesMax) return;
    const before = bytes;
    room = createScanRoom(textAt + textBytesMax);
    bytes = room.bytes;
    bytes.set(before.subarray(0, textAt));
  }

  function look(text: Uint8Array): ChainFault | undefined {
    if (text.length > textBytesMax) return malformed(text.length, textBytesMax);
    if (textAt + text.length > roomBytesFirst) makeRoom();
    const end = fillRoom(room, text, textAt);
    const read = readEntryLayout(room, textAt, end, layout);
    if (read < 0) return malformed(text.length, -1 - read - textAt);
    if (layout.sequence !== sequence) return fault("SEQUENCE_MISMATCH", String(sequence), String(layout.sequence));
    if (!isLinked) bytes.copyWithin(prevAt, layout.prevHash, layout.prevHash + hexLength);
    if (!isSameHex(room, layout.prevHash)) {
      return fault("LINK_MISMATCH", asciiText(bytes, prevAt, hexLength), asciiText(bytes, layout.prevHash, hexLength));
    }
    bytes.copyWithin(claimedAt, layout.hash, layout.hash + hexLength);
    bytes.copyWithin(layout.hashRun, layout.sequenceRun, end);
    layout.timestamp -= hashRunLength;
    const hash = sha256(bytes.subarray(prevAt, end - hashRunLength));
    if (!isClaimed(room, hash)) {
      return fault("HASH_MISMATCH", hexOfHash(asHash(hash)), asciiText(bytes, claimedAt, hexLength));
    }
    if (isTimed && isEarlier(room, layout.timestamp, timeAt)) {
      const actual = asciiText(bytes, layout.timestamp, timestampLength);
      return fault("TIME_BACKWARDS", asciiText(bytes, timeAt, timestampLength), actual);
    }
    return sequence === 0 ? lookAtGenesis(text) : undefined;
  }

  function lookAtGenesis(text: Uint8Array): ChainFault | undefined {
    const wrong = genesisFault(readEntry(text), sha256, origin);
    return wrong === undefined ? undefined : fault("GENESIS_MISMATCH", wrong.expected, wrong.actual);
  }

  return {
    next(text) {
      if (found !== undefined) return found;
      found = look(text);
      if (found !== undefined) return found;
      bytes.copyWithin(prevAt, claimedAt, claimedAt + hexLength);
      bytes.copyWithin(timeAt, layout.timestamp, layout.timestamp + timestampLength);
      isLinked = true;
      isTimed = true;
      sequence += 1;
      return undefined;
    },
    get sequence() {
      return sequence;
    },
    get hash() {
      return isLinked && sequence > 0 ? asciiText(bytes, prevAt, hexLength) : undefined;
    },
    get timestamp() {
      return isTimed ? asciiText(bytes, timeAt, timestampLength) : undefined;
    },
  };
}

function refuseOptions({ from, prevHash, lastTimestamp }: ChainCheckOptions): void {
  if (!Number.isSafeInteger(from) || from < 0) throw new RangeError(`${from} is not the number of an entry`);
  if (prevHash !== undefined && !isHashHex(prevHash)) throw new RangeError("prevHash is not 64 lower-case hex digits");
  if (from === 0 && prevHash !== undefined && prevHash !== zeroHex)
    throw new RangeError("nothing comes before entry 0");
  if (lastTimestamp !== undefined && !isTimestamp(lastTimestamp)) throw new RangeError("lastTimestamp is not a time");
}

/** Whether the digits at a position are those of the hash before. */
function isSameHex({ view }: ScanRoom, position: number): boolean {
  for (let at = 0; at < hexLength; at += 4) {
    if (view.getInt32(position + at, true) !== view.getInt32(prevAt + at, true)) return false;
  }
  return true;
}

const hexDigits = asciiBytes("0123456789abcdef");
/** The two digits of each byte, the first one in the lower half. */
const hexPairs: readonly number[] = Array.from(
  { length: 256 },
  (_, byte) => (hexDigits[byte >> 4] ?? 0) | ((hexDigits[byte & 15] ?? 0) << 8),
);

/** Whether the digits that the entry claims are those of its hash. */
function isClaimed({ view }: ScanRoom, hash: string): boolean {
  if (hash.length !== hashLength) return false;
  for (let at = 0; at < hashLength; at += 1) {
    if (view.getUint16(claimedAt + 2 * at, true) !== hexPairs[hash.charCodeAt(at)]) return false;
  }
  return true;
}

function asciiText(bytes: Uint8Array, start: number, length: number): string {
  return String.fromCharCode(...bytes.subarray(start, start + length));
}

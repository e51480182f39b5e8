// What every audit log asks of what it is given, before anything is sent: what cannot be kept exactly is refused by name, and a batch that does
// not fit together is a mistake of ours.
import { Defect, Fault } from "../../contracts/src/fault.ts";
import { type Instant, tryParse } from "../../contracts/src/instant.ts";
import type { AuditBatch, AuditHead, NewAuditRow, StoredCheckpoint, StoredTile } from "../../ports/audit-log.ts";

/** In UTF-16 units: an id that is all special characters still fits into an index of the database. */
const idUnitsMax = 512;
const textBytesMax = 65_535;
const hashBytes = 32;
const tileHashesMax = 256;
const levelMax = 63;
const hashHex = /^[0-9a-f]{64}$/;
const unstorable = /[\0\p{Surrogate}]/u;

/** All events about entries stand in one order, that of the log. */
export const appendedKey = "audit";
/** Whichever process runs it, only operations writes the log. */
export const appendedSource = "operations";

/** The times of rows as numbers. Most rows have that of the one before. */
export function timesOfRows(): (row: Pick<NewAuditRow, "timestamp">) => Instant {
  let last: { readonly text: string; readonly at: Instant } | undefined;
  return ({ timestamp }) => {
    if (last?.text === timestamp) return last.at;
    const at = tryParse(timestamp);
    if (at === undefined) throw new Defect("an entry has no time");
    last = { text: timestamp, at };
    return at;
  };
}

function isTime({ timestamp }: AuditHead): boolean {
  return tryParse(timestamp) !== undefined;
}

/** Throws unless the rows follow each other from `after` to the new head. */
export function checkBatch({ after, rows, head }: AuditBatch): void {
  if (!isCount(after) || head.size !== after + rows.length || !hashHex.test(head.hash) || !isTime(head)) {
    throw new Defect(`a batch of ${rows.length} entries after ${after} cannot have this head`);
  }
  const timeOf = timesOfRows();
  for (const [place, { sequence, text, eventId, subjectId, action, timestamp }] of rows.entries()) {
    timeOf({ timestamp });
    if (sequence !== after + place) throw new Defect(`entry ${sequence} stands in the place of ${after + place}`);
    if (text.length < 1 || text.length > textBytesMax) throw new Defect(`entry ${sequence} has ${text.length} bytes`);
    if (eventId === "") throw new Fault("INVALID_ARGUMENT", "an event id is empty", { retry: "never" });
    if (Math.max(eventId.length, subjectId.length, action.length) > idUnitsMax) {
      throw new Fault("INVALID_ARGUMENT", `an id or a name is longer than ${idUnitsMax}`, { retry: "never" });
    }
  }
}

export function checkCheckpoint({ size, note }: StoredCheckpoint): void {
  if (isCount(size) && textEnd(note) > 1 && !unstorable.test(note)) return;
  throw new Fault("INVALID_ARGUMENT", "this is not the note of a checkpoint", { retry: "never" });
}

export function checkTile({ level, index, hashes }: StoredTile): void {
  const width = hashes.length / hashBytes;
  const isTile = Number.isInteger(width) && width >= 1 && width <= tileHashesMax;
  if (!isTile || !isCount(level) || level > levelMax || !isCount(index)) {
    throw new Defect(`tile ${index} of level ${level} with ${hashes.length} bytes is not a tile`);
  }
}

/** Whether a note has the same text as the stored one and all of its signatures. */
export function onlyGains(stored: string, note: string): boolean {
  if (note.slice(0, textEnd(note)) !== stored.slice(0, textEnd(stored))) return false;
  const lines = new Set(note.slice(textEnd(note) + 1).split("\n"));
  return stored
    .slice(textEnd(stored) + 1)
    .split("\n")
    .every((line) => lines.has(line));
}

/** With the line feed that ends the text, and without the empty line. */
function textEnd(note: string): number {
  return note.indexOf("\n\n") + 1;
}

export function notOnlyGained(size: number): Fault {
  return new Fault("INVALID_ARGUMENT", `the note of the checkpoint of size ${size} may only gain signatures`, {
    retry: "never",
    facts: { size },
  });
}

export function staleWriterEpoch(writerEpoch: number): Fault {
  return new Fault("STORE_CONFLICT", "another sequencer has taken the writer epoch", {
    retry: "never",
    facts: { writerEpoch },
  });
}

export function headElsewhere(after: number): Fault {
  return new Fault("STORE_CONFLICT", "the log does not end where this batch begins", {
    retry: "never",
    facts: { after },
  });
}

export function eventAgain(): Fault {
  return new Fault("INVALID_ARGUMENT", "an event of this batch is in the log already", { retry: "never" });
}

export function answerLost({ after, head }: AuditBatch): Fault {
  return new Fault("STORE_COMMIT_UNKNOWN", "the answer to the commit of audit entries was lost", {
    retry: "never",
    facts: { after, size: head.size },
  });
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

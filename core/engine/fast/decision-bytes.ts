// A decision as bytes: what `RiskDecision.encode(decisionMessage(…))` gives, to the last bit, written straight from the notes. It is made
// once per order; decision-bytes.test.ts compares the two.
import * as instant from "../../../contracts/src/instant.ts";
import type { Amount } from "../../money/amount.ts";
import type { Notional } from "../../money/exact.ts";
import { amountInput, countInput, exactInput, type GateNote, type NoteColumns } from "../../state/notes.ts";
import { type Checked, noted, notesOf, warningOf } from "../decision.ts";
import { createWireWriter, type WireWriter } from "./wire-writer.ts";

/** The kinds of fields on the wire. */
const varint = 0;
const fixed64 = 1;
const delimited = 2;

/** Field numbers of order.proto. */
const tagOf = (field: number, kind: number): number => (field << 3) | kind;
const decisionTags = {
  approved: tagOf(1, varint),
  rejectingGate: tagOf(2, delimited),
  code: tagOf(3, delimited),
  reason: tagOf(4, delimited),
  orderId: tagOf(5, delimited),
  decisionId: tagOf(6, delimited),
  fundId: tagOf(7, delimited),
  envelopeVersion: tagOf(8, varint),
  haltEpoch: tagOf(9, varint),
  decidedAt: tagOf(10, delimited),
  validUntil: tagOf(11, delimited),
  classification: tagOf(12, delimited),
  closingQuantityAllowed: tagOf(13, delimited),
  checks: tagOf(14, delimited),
  warnings: tagOf(15, delimited),
  dryRun: tagOf(17, varint),
  reducesStrategy: tagOf(18, varint),
} as const;
const checkTags = {
  gate: tagOf(1, delimited),
  result: tagOf(2, delimited),
  figures: tagOf(3, delimited),
  microseconds: tagOf(4, fixed64),
} as const;
const figureTags = { name: tagOf(1, delimited), value: tagOf(2, delimited), ageMs: tagOf(3, fixed64) } as const;
const warningTags = { limit: tagOf(1, delimited), used: tagOf(2, fixed64), threshold: tagOf(3, fixed64) } as const;

interface DecisionPacker {
  /** The answer to the order, in bytes of its own; to be made before the next check. */
  pack(checked: Checked, decisionId: string): Uint8Array;
}

/** Each remembers its own second, because an approval holds for a few. */
interface Times {
  readonly decided: (at: instant.Instant) => string;
  readonly valid: (at: instant.Instant) => string;
}

export function createDecisionPacker(): DecisionPacker {
  const writer = createWireWriter();
  const times: Times = { decided: instant.createFormatter(), valid: instant.createFormatter() };
  return {
    pack(checked, decisionId) {
      const notes = notesOf(checked);
      writer.reset();
      writeHead(writer, times, checked, decisionId);
      for (let index = 0; index < notes.gateCount; index += 1) {
        const note = notes.gates[index];
        if (note !== undefined) writeCheck(writer, notes, note);
      }
      for (let index = 0; index < notes.shareCount; index += 1) writeWarning(writer, notes, index);
      if (checked.dryRun) writer.bool(decisionTags.dryRun, true);
      if (checked.reducesStrategy) writer.bool(decisionTags.reducesStrategy, true);
      return writer.take();
    },
  };
}

/** Empty texts and zeros are left out, as the wire format has it. */
function writeHead(writer: WireWriter, times: Times, checked: Checked, decisionId: string): void {
  const { order, envelope, validUntil, classification, closingQuantityAllowed } = checked;
  if (checked.outcome === "approved") writer.bool(decisionTags.approved, true);
  if (checked.gate !== "") writer.text(decisionTags.rejectingGate, checked.gate);
  if (checked.code !== "") writer.text(decisionTags.code, checked.code);
  if (checked.reason !== "") writer.text(decisionTags.reason, checked.reason);
  if (order.order_id !== "") writer.text(decisionTags.orderId, order.order_id);
  if (decisionId !== "") writer.text(decisionTags.decisionId, decisionId);
  if (order.fund_id !== "") writer.text(decisionTags.fundId, order.fund_id);
  if (envelope !== undefined) writer.whole(decisionTags.envelopeVersion, envelope.version);
  if (checked.haltEpoch !== 0) writer.whole(decisionTags.haltEpoch, checked.haltEpoch);
  writer.text(decisionTags.decidedAt, times.decided(checked.at));
  if (validUntil !== undefined) writer.text(decisionTags.validUntil, times.valid(validUntil));
  if (classification !== undefined) writer.text(decisionTags.classification, classification);
  if (closingQuantityAllowed !== undefined) {
    writer.decimal(decisionTags.closingQuantityAllowed, closingQuantityAllowed);
  }
}

function writeCheck(writer: WireWriter, notes: NoteColumns, note: GateNote): void {
  const began = writer.begin(decisionTags.checks, 2);
  writer.text(checkTags.gate, note.gate);
  writer.text(checkTags.result, note.passed ? "PASSED" : "FAILED");
  for (let place = note.start; place < note.end; place += 1) writeInput(writer, notes, place);
  if (note.microseconds !== 0) writer.double(checkTags.microseconds, note.microseconds);
  writer.end(began, 2);
}

function writeInput(writer: WireWriter, notes: NoteColumns, place: number): void {
  const began = writer.begin(checkTags.figures, 1);
  const name = notes.names[place] ?? "";
  const ageMs = notes.ages[place] ?? Number.NaN;
  if (name !== "") writer.text(figureTags.name, name);
  writeFigureValue(writer, notes, place);
  if (!Number.isNaN(ageMs)) writer.double(figureTags.ageMs, Math.max(0, ageMs));
  writer.end(began, 1);
}

function writeFigureValue(writer: WireWriter, notes: NoteColumns, place: number): void {
  const kind = notes.kinds[place];
  if (kind === amountInput) writer.decimal(figureTags.value, noted(notes, place) as Amount);
  else if (kind === exactInput) writer.cents(figureTags.value, noted(notes, place) as Notional);
  else {
    const value = String(kind === countInput ? notes.numbers[place] : notes.values[place]);
    if (value !== "") writer.text(figureTags.value, value);
  }
}

function writeWarning(writer: WireWriter, notes: NoteColumns, index: number): void {
  const share = notes.shares[index];
  if (share === undefined) return;
  const { limit, used, threshold } = warningOf(share);
  const began = writer.begin(decisionTags.warnings, 1);
  if (limit !== "") writer.text(warningTags.limit, limit);
  if (used !== 0) writer.double(warningTags.used, used);
  if (threshold !== 0) writer.double(warningTags.threshold, threshold);
  writer.end(began, 1);
}

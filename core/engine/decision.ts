// A check's result, and the message that is made of it. What a check read is written over by the next one, so the message and the
// inputs of a result are made before anything else is checked; a caller that comes too late is told so, and never gets another order's figures.
// Results that have to wait (a duplicate's, and one that the risk officer is asked about) keep theirs and may be read at any time.
import * as decimal from "../../contracts/src/decimal.ts";
import { Defect } from "../../contracts/src/fault.ts";
import type {
  Figure,
  GateCheck,
  LimitWarning,
  Order,
  RiskDecision,
} from "../../contracts/src/generated/svc/v1/order.ts";
import * as instant from "../../contracts/src/instant.ts";
import type { Classification, GateName } from "../../contracts/src/records/values.ts";
import type { Envelope } from "../envelope/envelope.ts";
import { type Amount, toDecimal } from "../money/amount.ts";
import { type Exact, type Notional, toExact } from "../money/exact.ts";
import type { OpenOrder } from "../orders/open-order.ts";
import type { CountedOrder } from "../orders/order-rate.ts";
import type { Amendment } from "../orders/reservations.ts";
import type { CountedApproval } from "../orders/throttle.ts";
import type { Asker, WaitingUndo } from "../orders/waiting-exits.ts";
import {
  amountInput,
  countInput,
  exactInput,
  type LimitShare,
  type NoteBook,
  type NoteColumns,
} from "../state/notes.ts";
import type { FundView } from "../state/view.ts";
import type { Hash } from "./fast/order-hash.ts";
import { joinViews, type ViewPacker } from "./fast/view-bytes.ts";

export interface Checked {
  readonly order: Order;
  readonly asker: Asker;
  /** The moment of the decision; never before that of an earlier one. */
  readonly at: instant.Instant;
  /** "ask": six gates passed, the exposure is reserved, and the risk officer must be asked before it is concluded. */
  readonly outcome: "approved" | "denied" | "ask";
  readonly duplicate: FundView["keySeen"];
  readonly dryRun: boolean;
  /** `bytesOfHash` makes bytes of them, for whoever stores them. */
  readonly keyHash: Hash;
  readonly bodyHash: Hash;
  /** The gate that said no, its code and its sentence; empty when none did. */
  readonly gate: GateName | "";
  readonly code: string;
  readonly reason: string;
  readonly classification: Classification | undefined;
  /** Of a denied flip, and of an order whose side does not fit the position. */
  readonly closingQuantityAllowed: Amount | undefined;
  /** Of an approved, marked exit. */
  readonly reducesStrategy: boolean;
  readonly envelope: Envelope | undefined;
  readonly haltEpoch: number;
  readonly validUntil: instant.Instant | undefined;
  /** The rest is for the core alone. */
  readonly notes: NoteBook;
  readonly generation: number;
  readonly kept: NoteColumns | undefined;
  readonly undo: CheckUndo;
  /** Where the inputs are, as long as they are still its own; those of a result that has to wait are packed. */
  readonly source: { readonly view: FundView; readonly packer: ViewPacker };
  readonly packed: Uint8Array | undefined;
  /** The first half, of a concluded check. */
  readonly asked: Checked | undefined;
}

/** What a check changed, so that it can be taken back. */
export interface CheckUndo {
  /** When the key was remembered; NaN when it was not. */
  keyAt: number;
  pace: CountedOrder | undefined;
  /** How long an approval counts for the throttle, as the static gate had it. */
  repeatWindowMs: number | undefined;
  approval: CountedApproval | undefined;
  tripped: boolean;
  reserved: OpenOrder | undefined;
  /** An expired order of the same id that the reservation took the place of. */
  replaced: OpenOrder | undefined;
  amended: Amendment | undefined;
  /** What waited for room on its line before. */
  waiting: WaitingUndo | undefined;
  /** The clock of the engine before and after. */
  sequence: number;
  sequenceBefore: number;
  lastAtBefore: instant.Instant;
}

const thresholds: readonly (readonly [bigint, number])[] = [
  [95n, 0.95],
  [90n, 0.9],
  [85n, 0.85],
  [75n, 0.75],
  [50n, 0.5],
];
const exactUnitPerCent = 10n ** 34n;
const shareDigits = 1_000_000n;

/** The notes of a result, as long as they are still its own. */
export function notesOf(checked: Checked): NoteColumns {
  if (checked.kept !== undefined) return checked.kept;
  assertCurrent(checked.notes, checked.generation);
  return checked.notes;
}

/** Everything that the gates could read, for the record; to be asked for before the next check. */
export function inputsOf(checked: Checked): Uint8Array {
  const { source, packed, asked } = checked;
  if (packed !== undefined) return packed;
  assertCurrent(checked.notes, checked.generation);
  const own = source.packer.pack(source.view, checked.at);
  return asked === undefined ? own : joinViews(inputsOf(asked), own);
}

/** The contract of every result that does not keep its notes. */
function assertCurrent(notes: NoteBook, generation: number): void {
  if (notes.generation !== generation) {
    throw new Defect("a check's notes were asked for after the next check had written over them");
  }
}

/** The answer to the order; to be made before the next check. */
export function decisionMessage(checked: Checked, decisionId: string): RiskDecision {
  const notes = notesOf(checked);
  const { order, envelope, validUntil, closingQuantityAllowed } = checked;
  return {
    approved: checked.outcome === "approved",
    rejecting_gate: checked.gate,
    code: checked.code,
    reason: checked.reason,
    order_id: order.order_id,
    decision_id: decisionId,
    fund_id: order.fund_id,
    envelope_version: envelope?.version,
    halt_epoch: checked.haltEpoch,
    decided_at: instant.format(checked.at),
    valid_until: validUntil === undefined ? undefined : instant.format(validUntil),
    classification: checked.classification,
    closing_quantity_allowed:
      closingQuantityAllowed === undefined ? undefined : decimal.format(toDecimal(closingQuantityAllowed)),
    checks: checksOf(notes),
    warnings: warningsOf(notes),
    original: undefined,
    dry_run: checked.dryRun ? true : undefined,
    reduces_strategy: checked.reducesStrategy ? true : undefined,
  };
}

function checksOf(notes: NoteColumns): GateCheck[] {
  const checks: GateCheck[] = [];
  for (let index = 0; index < notes.gateCount; index += 1) {
    const note = notes.gates[index];
    if (note === undefined) continue;
    const figures: Figure[] = [];
    for (let place = note.start; place < note.end; place += 1) figures.push(figureAt(notes, place));
    checks.push({
      gate: note.gate,
      result: note.passed ? "PASSED" : "FAILED",
      figures,
      microseconds: note.microseconds,
    });
  }
  return checks;
}

function figureAt(notes: NoteColumns, place: number): Figure {
  const ageMs = notes.ages[place] ?? Number.NaN;
  return {
    name: notes.names[place] ?? "",
    value: figureText(notes, place),
    // What lies ahead of our clock has no age; the gate has judged it by its distance.
    age_ms: Number.isNaN(ageMs) ? undefined : Math.max(0, ageMs),
  };
}

function figureText(notes: NoteColumns, place: number): string {
  const kind = notes.kinds[place];
  if (kind === countInput) return String(notes.numbers[place]);
  if (kind === amountInput) return decimal.format(toDecimal(noted(notes, place) as Amount));
  if (kind === exactInput) return centsText(toExact(noted(notes, place) as Notional));
  return String(notes.values[place] ?? "");
}

/** An amount, or a product of two, as it was noted. */
export function noted(notes: NoteColumns, place: number): Amount | Notional {
  const number = notes.numbers[place] ?? Number.NaN;
  return (Number.isNaN(number) ? notes.values[place] : number) as Amount | Notional;
}

function centsText(value: Exact): string {
  const magnitude = value < 0n ? -value : value;
  const cents = (magnitude + exactUnitPerCent - 1n) / exactUnitPerCent;
  const digits = cents.toString().padStart(3, "0");
  return `${value < 0n ? "-" : ""}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

function warningsOf(notes: NoteColumns): LimitWarning[] {
  const warnings: LimitWarning[] = [];
  for (let index = 0; index < notes.shareCount; index += 1) {
    const share = notes.shares[index];
    if (share !== undefined) warnings.push(warningOf(share));
  }
  return warnings;
}

/** Half of the limit or more is used, or it would not have been noted. A limit of nothing counts as used up. */
export function warningOf({ limit, used, allowed }: LimitShare): LimitWarning {
  const [part, whole] = [toExact(used), toExact(allowed)];
  if (whole <= 0n) return { limit, used: 1, threshold: 0.95 };
  const [, threshold] = thresholds.find(([hundredths]) => part * 100n >= whole * hundredths) ?? [50n, 0.5];
  return { limit, used: Number((part * shareDigits) / whole) / Number(shareDigits), threshold };
}

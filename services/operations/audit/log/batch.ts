// How requests become a batch of entries: each gets its number, its link to the entry before and to the newest about its subject, and its bytes.
// What stands in the log already gets no second entry. Nothing here asks anybody or waits.
import { Fault } from "../../../../contracts/src/fault.ts";
import { format } from "../../../../contracts/src/instant.ts";
import { ValueRefused } from "../../../../core/audit/canonical/canonical-json.ts";
import { dataText, type Entry, type EntryMaker } from "../../../../core/audit/entry.ts";
import type { AuditHead, NewAuditRow } from "../../../../ports/audit-log.ts";
import type { AppendRequest } from "./append-request.ts";
import { hasFixedData, subjectPrevious } from "./reserved.ts";

/** A batch that is ready to be written. */
export interface Chained<Waiting> {
  readonly rows: (NewAuditRow & Entry)[];
  /** Who waits for which entry; several may wait for one. */
  readonly placed: { readonly waiting: Waiting; readonly sequence: number; readonly entry: Entry | undefined }[];
  /** Of each subject in it the newest entry. */
  readonly newest: Map<string, number>;
  /** As it will be when the batch is durable. */
  head: AuditHead;
  bytes: number;
}

/** What is durable: the newest entry of each subject, and events by their id. */
export interface Known {
  /** Undefined when nobody asked: an event that stands in the log already is then found by the store, which refuses the batch. */
  readonly sequences: Map<string, number> | undefined;
  readonly newest: ReadonlyMap<string, number>;
}

interface ChainOptions {
  readonly known: Known;
  /** The batch that will stand immediately before; what it adds need not be durable yet. */
  readonly before: Pick<Chained<unknown>, "newest"> | undefined;
  readonly maker: EntryMaker;
  /** The time by the log's clock, as it stands in the entries of this batch. */
  readonly now: string;
}

interface Wishing {
  readonly request: AppendRequest;
  readonly reject: (fault: Fault) => void;
}

const batchBytesMax = 8 * 1024 * 1024;

export function beginBatch<Waiting>(head: AuditHead): Chained<Waiting> {
  return { rows: [], placed: [], newest: new Map(), head, bytes: 0 };
}

export function isFull({ bytes }: Chained<unknown>): boolean {
  return bytes >= batchBytesMax;
}

/** Chains them in order, from one on and so many at most, until the batch is full. Answers where it stopped. */
export function chainSome<Waiting extends Wishing>(
  batch: Chained<Waiting>,
  all: readonly Waiting[],
  from: number,
  countMax: number,
  options: ChainOptions,
): number {
  const end = Math.min(all.length, from + countMax);
  for (let index = from; index < end; index += 1) {
    const waiting = all[index];
    if (waiting === undefined || isFull(batch)) return index;
    place(batch, waiting, options);
  }
  return end;
}

function place<Waiting extends Wishing>(batch: Chained<Waiting>, waiting: Waiting, options: ChainOptions): void {
  const { known, before, maker, now } = options;
  const { eventId, subjectId, action, actor } = waiting.request;
  const there = known.sequences?.get(eventId);
  if (there !== undefined) {
    batch.placed.push({ waiting, sequence: there, entry: undefined });
    return;
  }
  const previous = batch.newest.get(subjectId) ?? before?.newest.get(subjectId) ?? known.newest.get(subjectId);
  const { size: sequence, hash, timestamp: last } = batch.head;
  const timestamp = now > last ? now : last;
  let entry: Entry;
  try {
    const fields = { sequence, timestamp, actor, action, subject_id: subjectId, prev_hash: hash };
    entry =
      plainly(maker, fields, waiting.request, previous) ?? maker.ofText(fields, textOf(waiting.request, previous));
  } catch (thrown) {
    if (!(thrown instanceof ValueRefused)) throw thrown;
    const sentence = `This cannot be an audit entry: ${thrown.message}.`;
    waiting.reject(new Fault("INVALID_ARGUMENT", sentence, { retry: "never" }));
    return;
  }
  const { text, leaf } = entry;
  batch.rows.push({ sequence, text, hash: entry.hash, leaf, eventId, subjectId, action, timestamp });
  batch.placed.push({ waiting, sequence, entry });
  batch.newest.set(subjectId, sequence);
  known.sequences?.set(eventId, sequence);
  batch.head = { size: sequence + 1, hash: entry.hash, timestamp };
  batch.bytes += entry.text.length;
}

/** The short way, for data that is plain and in order; undefined when it must go the careful one. */
function plainly(
  maker: EntryMaker,
  fields: Parameters<EntryMaker["ofPlain"]>[0],
  { action, data, at, isPlain }: AppendRequest,
  previous: number | undefined,
): Entry | undefined {
  if (isPlain !== true || at !== undefined || hasFixedData(action) || !isBeforeLink(data)) return undefined;
  return maker.ofPlain(fields, data, `"${subjectPrevious}":${previous ?? null}`);
}

/** The canonical text of the entry's data. */
function textOf({ action, data, at }: AppendRequest, previous: number | undefined): string {
  if (hasFixedData(action)) return dataText(data);
  const whole = plainCopy(data);
  if (at !== undefined) whole["at"] = format(at);
  whole[subjectPrevious] = previous ?? null;
  return dataText(whole);
}

/** Whether all names sort before that of the link, so that it can be written behind them. */
function isBeforeLink(data: Readonly<Record<string, unknown>>): boolean {
  for (const name in data) if (name >= subjectPrevious) return false;
  return true;
}

/** A copy that hides nothing from the encoder: what it would refuse must not pass because it was copied. */
function plainCopy(data: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const prototype: unknown = typeof data === "object" && data !== null ? Object.getPrototypeOf(data) : undefined;
  if (prototype !== Object.prototype && prototype !== null) throw new ValueRefused("data", "not a plain object");
  const copy: Record<string, unknown> = {};
  for (const name of Reflect.ownKeys(data)) {
    const member = Reflect.getOwnPropertyDescriptor(data, name);
    const isPlain = member !== undefined && "value" in member && member.enumerable === true;
    if (typeof name === "symbol" || !isPlain) throw new ValueRefused(`data.${String(name)}`, "not a plain member");
    if (name === "__proto__") Object.defineProperty(copy, name, member);
    else copy[name] = member.value;
  }
  return copy;
}

// How wishes become a batch of entries: each gets its number, its link to the entry before and to the newest about its subject, and its bytes.
// What stands in the log already gets no second entry. Nothing here asks anybody or waits.
import { Fault } from "../../../contracts/src/fault.ts";
import { format } from "../../../contracts/src/instant.ts";
import { canonicalJson, canonicalJsonOfPlain, ValueRefused } from "../../../core/audit/canonical-json.ts";
import type { Entry, MakeEntry } from "../../../core/audit/entry.ts";
import type { AuditHead, NewAuditRow } from "../../../ports/audit-log.ts";
import { hasFixedData, subjectPrevious } from "./reserved.ts";
import type { AuditWish } from "./sequencer.ts";

/** A batch that is ready to be written. */
export interface Chained<Waiting> {
  readonly rows: NewAuditRow[];
  readonly entries: Entry[];
  /** Who waits for which entry; several may wait for one. */
  readonly placed: { readonly waiting: Waiting; readonly sequence: number; readonly entry: Entry | undefined }[];
  /** Of each subject in it the newest entry, and of each event its entry. */
  readonly newest: Map<string, number>;
  readonly ids: Map<string, number>;
  /** As it will be when the batch is durable. */
  head: AuditHead;
  bytes: number;
}

/** What is durable: events by their id, and the newest entry of each subject. */
export interface Known {
  readonly sequences: ReadonlyMap<string, number>;
  readonly newest: ReadonlyMap<string, number>;
}

export interface ChainOptions {
  readonly known: Known;
  /** The batch that will stand immediately before; what it adds need not be durable yet. */
  readonly before: Pick<Chained<unknown>, "newest" | "ids"> | undefined;
  readonly makeEntry: MakeEntry;
  /** The time by the log's clock, as it stands in an entry. */
  readonly timestampOf: () => string;
}

interface Wishing {
  readonly wish: AuditWish;
  readonly reject: (fault: Fault) => void;
}

const batchBytesMax = 8 * 1024 * 1024;

export function beginBatch<Waiting>(head: AuditHead): Chained<Waiting> {
  return { rows: [], entries: [], placed: [], newest: new Map(), ids: new Map(), head, bytes: 0 };
}

/** Chains them in order until the batch is full. Answers how many are left over. */
export function chainAll<Waiting extends Wishing>(
  batch: Chained<Waiting>,
  all: readonly Waiting[],
  options: ChainOptions,
): number {
  for (const [index, waiting] of all.entries()) {
    if (batch.bytes >= batchBytesMax) return all.length - index;
    place(batch, waiting, options);
  }
  return 0;
}

function place<Waiting extends Wishing>(batch: Chained<Waiting>, waiting: Waiting, options: ChainOptions): void {
  const { known, before, makeEntry, timestampOf } = options;
  const { eventId, subjectId, action, actor } = waiting.wish;
  const there = batch.ids.get(eventId) ?? before?.ids.get(eventId) ?? known.sequences.get(eventId);
  if (there !== undefined) {
    batch.placed.push({ waiting, sequence: there, entry: undefined });
    return;
  }
  const previous = batch.newest.get(subjectId) ?? before?.newest.get(subjectId) ?? known.newest.get(subjectId);
  const { size: sequence, hash, timestamp: last } = batch.head;
  const now = timestampOf();
  const timestamp = now > last ? now : last;
  let entry: Entry;
  try {
    const data = dataOf(waiting.wish, previous);
    const fields = { sequence, timestamp, actor, action, subject_id: subjectId, data, prev_hash: hash };
    entry = makeEntry(fields, waiting.wish.isPlain === true ? canonicalJsonOfPlain : canonicalJson);
  } catch (thrown) {
    if (!(thrown instanceof ValueRefused)) throw thrown;
    const sentence = `This cannot be an audit entry: ${thrown.message}.`;
    waiting.reject(new Fault("INVALID_ARGUMENT", sentence, { retry: "never" }));
    return;
  }
  batch.rows.push({ sequence, text: entry.text, eventId, subjectId, action });
  batch.entries.push(entry);
  batch.placed.push({ waiting, sequence, entry });
  batch.newest.set(subjectId, sequence);
  batch.ids.set(eventId, sequence);
  batch.head = { size: sequence + 1, hash: entry.hash, timestamp };
  batch.bytes += entry.text.length;
}

function dataOf(
  { action, data, at, isPlain }: AuditWish,
  previous: number | undefined,
): Readonly<Record<string, unknown>> {
  if (hasFixedData(action)) return data;
  const whole: Record<string, unknown> = isPlain === true ? { ...data } : plainCopy(data);
  if (at !== undefined) whole["at"] = format(at);
  whole[subjectPrevious] = previous ?? null;
  return whole;
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

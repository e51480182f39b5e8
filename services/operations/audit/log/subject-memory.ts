// How many entries there are about each subject, and which is the newest, as the entries themselves say it: taken down from the bytes by a whole
// verification and from every append, never from the index. An answer from the index is compared with it, so whatever the index leaves out shows,
// and that there is nothing about a subject can be said for certain.
//
//  1. What was there at the start is known only after a pass over all of it has come to its end; until then nothing is proved.
//  2. Subjects are kept as 64 bits under a secret of this process, in a table that is bounded: when there are more, nothing is proved any more.

export interface SubjectSeen {
  readonly newest: number;
  readonly count: number;
}

interface SubjectPass {
  entry(subjectId: string, sequence: number): void;
  /** Every entry was shown and is what was signed. */
  complete(): void;
}

export interface SubjectMemory {
  /** An entry that this process has made durable. */
  appended(subjectId: string, sequence: number): void;
  beginPass(): SubjectPass;
  /** What is known of a subject; undefined when no entry is. */
  seen(subjectId: string): SubjectSeen | undefined;
  /** Whether every entry is known of. */
  isWhole(): boolean;
  /** Whether it is certain that no entry is about the subject. */
  hasNone(subjectId: string): boolean;
}

interface SubjectMemoryOptions {
  /** How many entries there were at the start. */
  readonly size: number;
  /** Eight bytes. */
  readonly secret: Uint8Array;
  readonly slotsMax?: number;
}

const slotsMin = 1_024;
const slotsMaxDefault = 1_048_576;
/** Beyond this share of slots in use, looking for a free one takes long. */
const usedMax = 0.7;

export function createSubjectMemory({ size, secret, slotsMax = slotsMaxDefault }: SubjectMemoryOptions): SubjectMemory {
  const view = new DataView(secret.buffer, secret.byteOffset, secret.byteLength);
  const hash = keyedHash(view.getUint32(0), view.getUint32(4));
  const young = createTable(hash, slotsMax);
  let old = size === 0 ? createTable(hash, slotsMax) : undefined;
  const isWhole = (): boolean => old !== undefined && !old.isFull() && !young.isFull();
  return {
    appended(subjectId, sequence) {
      if (sequence >= size) young.add(subjectId, sequence);
    },
    beginPass() {
      const table = createTable(hash, slotsMax);
      return {
        entry(subjectId, sequence) {
          if (sequence < size) table.add(subjectId, sequence);
        },
        complete() {
          if (table.total() === size) old = table;
        },
      };
    },
    seen(subjectId) {
      const [before, since] = [old?.get(subjectId), young.get(subjectId)];
      if (before === undefined || since === undefined) return before ?? since;
      return { newest: since.newest, count: before.count + since.count };
    },
    isWhole,
    hasNone: (subjectId) => isWhole() && old?.get(subjectId) === undefined && young.get(subjectId) === undefined,
  };
}

type KeyedHash = (text: string) => readonly [number, number];

/** Two halves that mix differently; not for proofs, only so that nobody can choose subjects that fall together. */
function keyedHash(first: number, second: number): KeyedHash {
  return (text) => {
    let [one, other] = [first ^ 0xdeadbeef, second ^ 0x41c6ce57];
    for (let at = 0; at < text.length; at += 1) {
      const unit = text.charCodeAt(at);
      one = Math.imul(one ^ unit, 2_654_435_761);
      other = Math.imul(other ^ unit, 1_597_334_677);
    }
    one = Math.imul(one ^ (one >>> 16), 2_246_822_507) ^ Math.imul(other ^ (other >>> 13), 3_266_489_909);
    other = Math.imul(other ^ (other >>> 16), 2_246_822_507) ^ Math.imul(one ^ (one >>> 13), 3_266_489_909);
    return [one >>> 0, other >>> 0];
  };
}

interface Slots {
  readonly high: Uint32Array;
  readonly low: Uint32Array;
  readonly newest: Float64Array;
  /** 0 where the slot is free. */
  readonly counts: Uint32Array;
}

function slotsOf(count: number): Slots {
  return {
    high: new Uint32Array(count),
    low: new Uint32Array(count),
    newest: new Float64Array(count),
    counts: new Uint32Array(count),
  };
}

function createTable(hash: KeyedHash, slotsMax: number) {
  let slots = slotsOf(Math.min(slotsMin, slotsMax));
  let used = 0;
  let total = 0;
  let isFull = false;

  function place({ high, low, counts }: Slots, one: number, other: number): number {
    const mask = counts.length - 1;
    let at = one & mask;
    while (counts[at] !== 0 && (high[at] !== one || low[at] !== other)) at = (at + 1) & mask;
    return at;
  }

  function put(to: Slots, one: number, other: number, newest: number, count: number): boolean {
    const at = place(to, one, other);
    const isNew = to.counts[at] === 0;
    to.high[at] = one;
    to.low[at] = other;
    to.newest[at] = newest;
    to.counts[at] = (to.counts[at] ?? 0) + count;
    return isNew;
  }

  function grow(): void {
    const wider = slotsOf(slots.counts.length * 2);
    for (const [at, count] of slots.counts.entries()) {
      if (count > 0) put(wider, slots.high[at] ?? 0, slots.low[at] ?? 0, slots.newest[at] ?? 0, count);
    }
    slots = wider;
  }

  return {
    add(subjectId: string, sequence: number): void {
      if (isFull) return;
      const [one, other] = hash(subjectId);
      if (put(slots, one, other, sequence, 1)) used += 1;
      total += 1;
      if (used < slots.counts.length * usedMax) return;
      if (slots.counts.length * 2 <= slotsMax) grow();
      else isFull = true;
    },
    get(subjectId: string): SubjectSeen | undefined {
      const [one, other] = hash(subjectId);
      const at = place(slots, one, other);
      const count = slots.counts[at] ?? 0;
      return count === 0 ? undefined : { newest: slots.newest[at] ?? 0, count };
    },
    total: () => total,
    isFull: () => isFull,
  };
}

// The idempotency keys of the last minutes, as flat tables of hashes: one table per minute, dropped whole when its minute is too old, so
// that remembering costs no objects and forgetting costs nothing.
//
// A table is an index and rows. Nearly every key that is asked about is new, and the index alone says so: it is small enough to stay near
// the processor where the rows would not, and growing it moves no row.
//
// Invariants (seen-keys.test.ts names them):
//  1. A key is seen while its first sighting is younger than the window, to the microsecond; a repeat does not prolong it.
//  2. What is found is exactly what was remembered: 16 bytes of the key's hash are compared, not a shorter tag.
//  3. Memory follows the number of keys within the window plus one bucket; an idle table gives its room back.
import type { Instant } from "../../../contracts/src/instant.ts";
import type { Hash } from "./order-hash.ts";

const bucketCountPerWindow = 5;
const slotsFirst = 1_024;
/** Words of an index's slot: the first of the key's hash, and the row's number counted from 1; 0 is an empty slot. */
const slotWords = 2;
/** Words of a row: the other three of the key's hash, four of the body's, and the moment within the bucket. */
const rowWords = 8;
const bodyAt = 3;
const momentAt = 7;
/** Rows of a page, and how many bits count them; a table has as many pages as it needs, and none of them ever moves. */
const pageRows = 512;
const pageBits = 9;
const noRow = -1;

interface Bucket {
  /** Which stretch of time it is for; NaN when unused. */
  index: number;
  count: number;
  /** Their number is a power of two. */
  slots: number;
  entries: Int32Array;
  readonly pages: Int32Array[];
  /** Rows that were ever used, and the last of those that are free again; each of these names the next. */
  used: number;
  free: number;
}

export interface SeenKeys {
  /** The moment of the first sighting within the window, or NaN; then `sameBody` tells about what was found. */
  find(key: Hash, body: Hash, at: Instant): number;
  /** Whether the body of the key that `find` found last was the same. */
  sameBody(): boolean;
  /** Remembers a key that `find` did not find. */
  remember(key: Hash, body: Hash, at: Instant): void;
  /** Takes a sighting back. */
  forget(key: Hash, at: Instant): void;
  /** Keys held, those included that are out of the window and not yet dropped. */
  count(): number;
  bytes(): number;
}

function pageOf({ pages }: Bucket, row: number): Int32Array {
  const number = row >>> pageBits;
  let page = pages[number];
  if (page === undefined) {
    page = new Int32Array(pageRows * rowWords);
    pages[number] = page;
  }
  return page;
}

/** Where in its page the row begins. */
function placeOf(row: number): number {
  return (row & (pageRows - 1)) * rowWords;
}

function isKeyOf(bucket: Bucket, row: number, key: Hash): boolean {
  const page = pageOf(bucket, row);
  const place = placeOf(row);
  return page[place] === key.second && page[place + 1] === key.third && page[place + 2] === key.fourth;
}

/** Where in the index the key's entry is, or the empty one where it would go. */
function entryOf(bucket: Bucket, key: Hash): number {
  const { entries, slots } = bucket;
  const tag = key.first;
  const mask = slots - 1;
  for (let slot = tag & mask; ; slot = (slot + 1) & mask) {
    const entry = slot * slotWords;
    const number = entries[entry + 1] ?? 0;
    if (number === 0 || (entries[entry] === tag && isKeyOf(bucket, number - 1, key))) return entry;
  }
}

function resize(bucket: Bucket, slots: number): void {
  const { entries: before } = bucket;
  const entries = new Int32Array(slots * slotWords);
  bucket.entries = entries;
  bucket.slots = slots;
  const mask = slots - 1;
  for (let entry = 0; entry < before.length; entry += slotWords) {
    const number = before[entry + 1] ?? 0;
    if (number === 0) continue;
    const tag = before[entry] ?? 0;
    let slot = tag & mask;
    while (entries[slot * slotWords + 1] !== 0) slot = (slot + 1) & mask;
    entries[slot * slotWords] = tag;
    entries[slot * slotWords + 1] = number;
  }
}

/** Frees the row, empties its entry and moves up those behind it that would no longer be found. */
function remove(bucket: Bucket, entry: number): void {
  const { entries, slots } = bucket;
  const row = (entries[entry + 1] ?? 0) - 1;
  pageOf(bucket, row)[placeOf(row)] = bucket.free;
  bucket.free = row;
  const mask = slots - 1;
  let hole = entry / slotWords;
  for (let next = (hole + 1) & mask; entries[next * slotWords + 1] !== 0; next = (next + 1) & mask) {
    const home = (entries[next * slotWords] ?? 0) & mask;
    // The one at `next` may move into the hole only if the hole does not lie before its home.
    if (((next - home) & mask) < ((next - hole) & mask)) continue;
    entries.copyWithin(hole * slotWords, next * slotWords, (next + 1) * slotWords);
    hole = next;
  }
  entries[hole * slotWords + 1] = 0;
  bucket.count -= 1;
}

/** A row to write into: one that is free again, or the next. */
function takeRow(bucket: Bucket): number {
  const { free } = bucket;
  if (free === noRow) {
    bucket.used += 1;
    return bucket.used - 1;
  }
  bucket.free = pageOf(bucket, free)[placeOf(free)] ?? noRow;
  return free;
}

function bytesOf({ entries, pages }: Bucket): number {
  return entries.byteLength + pages.length * pageRows * rowWords * Int32Array.BYTES_PER_ELEMENT;
}

export function createSeenKeys(windowMs: number): SeenKeys {
  const windowMicroseconds = windowMs * 1_000;
  const bucketMicroseconds = Math.ceil(windowMicroseconds / bucketCountPerWindow);
  const ringLength = bucketCountPerWindow + 1;
  const buckets: Bucket[] = Array.from({ length: ringLength }, () => ({
    index: Number.NaN,
    count: 0,
    slots: slotsFirst,
    entries: new Int32Array(slotsFirst * slotWords),
    pages: [],
    used: 0,
    free: noRow,
  }));
  let foundSameBody = false;
  /** Where the last was remembered: mostly the next one goes there too. */
  let current: Bucket | undefined;

  function bucketFor(at: Instant): Bucket | undefined {
    const index = Math.floor(at / bucketMicroseconds);
    if (current !== undefined && current.index === index) return current;
    current = turnTo(index);
    return current;
  }

  function turnTo(index: number): Bucket | undefined {
    const bucket = buckets[((index % ringLength) + ringLength) % ringLength];
    if (bucket === undefined || bucket.index > index) return undefined;
    if (bucket.index !== index) {
      // As much room as the stretch before it needed, so that a steady flow never has to grow a table.
      const before = buckets[(((index - 1) % ringLength) + ringLength) % ringLength];
      const expected = before !== undefined && before.index === index - 1 ? before.slots : slotsFirst;
      const roomy = before !== undefined && before.count * 8 < before.slots && expected > slotsFirst;
      const slots = roomy ? expected / 2 : expected;
      bucket.index = index;
      if (bucket.count > 0 || bucket.slots !== slots) {
        bucket.entries = new Int32Array(slots * slotWords);
        bucket.slots = slots;
      }
      bucket.count = 0;
      bucket.used = 0;
      bucket.free = noRow;
      // An index is at most half full.
      bucket.pages.length = Math.min(bucket.pages.length, slots / 2 / pageRows);
    }
    return bucket;
  }

  return {
    find(key, body, at) {
      for (let index = 0; index < ringLength; index += 1) {
        const bucket = buckets[index];
        if (bucket === undefined || bucket.count === 0) continue;
        const number = bucket.entries[entryOf(bucket, key) + 1] ?? 0;
        if (number === 0) continue;
        const page = pageOf(bucket, number - 1);
        const place = placeOf(number - 1);
        const seenAt = bucket.index * bucketMicroseconds + ((page[place + momentAt] ?? 0) >>> 0);
        if (at - seenAt >= windowMicroseconds) continue;
        foundSameBody =
          page[place + bodyAt] === body.first &&
          page[place + bodyAt + 1] === body.second &&
          page[place + bodyAt + 2] === body.third &&
          page[place + bodyAt + 3] === body.fourth;
        return seenAt;
      }
      return Number.NaN;
    },
    sameBody: () => foundSameBody,
    remember(key, body, at) {
      const bucket = bucketFor(at);
      // Older than everything that is kept: it could not be found anyway.
      if (bucket === undefined) return;
      if ((bucket.count + 1) * 2 > bucket.slots) resize(bucket, bucket.slots * 2);
      const entry = entryOf(bucket, key);
      if (bucket.entries[entry + 1] !== 0) return;
      const row = takeRow(bucket);
      bucket.entries[entry] = key.first;
      bucket.entries[entry + 1] = row + 1;
      const page = pageOf(bucket, row);
      const place = placeOf(row);
      page[place] = key.second;
      page[place + 1] = key.third;
      page[place + 2] = key.fourth;
      page[place + bodyAt] = body.first;
      page[place + bodyAt + 1] = body.second;
      page[place + bodyAt + 2] = body.third;
      page[place + bodyAt + 3] = body.fourth;
      page[place + momentAt] = at - bucket.index * bucketMicroseconds;
      bucket.count += 1;
    },
    forget(key, at) {
      const bucket = buckets.find((candidate) => candidate.index === Math.floor(at / bucketMicroseconds));
      if (bucket === undefined) return;
      const entry = entryOf(bucket, key);
      if (bucket.entries[entry + 1] !== 0) remove(bucket, entry);
    },
    count: () => buckets.reduce((sum, bucket) => sum + bucket.count, 0),
    bytes: () => buckets.reduce((sum, bucket) => sum + bytesOf(bucket), 0),
  };
}

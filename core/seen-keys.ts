// The idempotency keys of the last minutes, as flat tables of hashes: one table per minute, dropped whole when its minute is too old, so
// that remembering costs no objects and forgetting costs nothing.
//
// Invariants (seen-keys.test.ts names them):
//  1. A key is seen while its first sighting is younger than the window, to the microsecond; a repeat does not prolong it.
//  2. What is found is exactly what was remembered: 16 bytes of the key's hash are compared, not a shorter tag.
//  3. Memory follows the number of keys within the window plus one bucket; an idle table gives its room back.
import type { Instant } from "../contracts/src/instant.ts";
import type { Hash } from "./order-hash.ts";

const bucketCountPerWindow = 5;
const slotsFirst = 1_024;
/** Words of a row: four of the key's hash, four of the body's, and the moment within the bucket. */
const rowWords = 9;
const bodyAt = 4;
const momentAt = 8;

interface Bucket {
  /** Which stretch of time it is for; NaN when unused. */
  index: number;
  count: number;
  /** Their number is a power of two. */
  slots: number;
  /** A row for every slot, so that a look at one touches one place in memory. The first word is never 0; 0 is an empty slot. */
  rows: Int32Array;
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

function tagOf({ first }: Hash): number {
  return first === 0 ? 1 : first;
}

/** The row of the key, or that of the empty slot where it would go. */
function rowOf({ rows, slots }: Bucket, key: Hash): number {
  const tag = tagOf(key);
  const mask = slots - 1;
  let slot = tag & mask;
  for (;;) {
    const row = slot * rowWords;
    const found = rows[row];
    if (found === 0) return row;
    if (found === tag && rows[row + 1] === key.second && rows[row + 2] === key.third && rows[row + 3] === key.fourth) {
      return row;
    }
    slot = (slot + 1) & mask;
  }
}

function resize(bucket: Bucket, slots: number): void {
  const { rows, slots: before } = bucket;
  bucket.rows = new Int32Array(slots * rowWords);
  bucket.slots = slots;
  const mask = slots - 1;
  for (let row = 0; row < before * rowWords; row += rowWords) {
    const tag = rows[row] ?? 0;
    if (tag === 0) continue;
    let slot = tag & mask;
    while (bucket.rows[slot * rowWords] !== 0) slot = (slot + 1) & mask;
    for (let word = 0; word < rowWords; word += 1) bucket.rows[slot * rowWords + word] = rows[row + word] ?? 0;
  }
}

/** Empties a row and moves up those behind it that would no longer be found. */
function removeRow(bucket: Bucket, row: number): void {
  const { rows, slots } = bucket;
  const mask = slots - 1;
  let hole = row / rowWords;
  let next = (hole + 1) & mask;
  for (;;) {
    const tag = rows[next * rowWords] ?? 0;
    if (tag === 0) break;
    const home = tag & mask;
    // The one at `next` may move into the hole only if the hole does not lie before its home.
    if (((next - home) & mask) >= ((next - hole) & mask)) {
      rows.copyWithin(hole * rowWords, next * rowWords, (next + 1) * rowWords);
      hole = next;
    }
    next = (next + 1) & mask;
  }
  rows[hole * rowWords] = 0;
  bucket.count -= 1;
}

export function createSeenKeys(windowMs: number): SeenKeys {
  const windowMicroseconds = windowMs * 1_000;
  const bucketMicroseconds = Math.ceil(windowMicroseconds / bucketCountPerWindow);
  const ringLength = bucketCountPerWindow + 1;
  const buckets: Bucket[] = Array.from({ length: ringLength }, () => ({
    index: Number.NaN,
    count: 0,
    slots: slotsFirst,
    rows: new Int32Array(slotsFirst * rowWords),
  }));
  let foundSameBody = false;

  function bucketFor(at: Instant): Bucket | undefined {
    const index = Math.floor(at / bucketMicroseconds);
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
        bucket.rows = new Int32Array(slots * rowWords);
        bucket.slots = slots;
      }
      bucket.count = 0;
    }
    return bucket;
  }

  return {
    find(key, body, at) {
      for (let index = 0; index < ringLength; index += 1) {
        const bucket = buckets[index];
        if (bucket === undefined || bucket.count === 0) continue;
        const { rows } = bucket;
        const row = rowOf(bucket, key);
        if (rows[row] === 0) continue;
        const seenAt = bucket.index * bucketMicroseconds + ((rows[row + momentAt] ?? 0) >>> 0);
        if (at - seenAt >= windowMicroseconds) continue;
        foundSameBody =
          rows[row + bodyAt] === body.first &&
          rows[row + bodyAt + 1] === body.second &&
          rows[row + bodyAt + 2] === body.third &&
          rows[row + bodyAt + 3] === body.fourth;
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
      const { rows } = bucket;
      const row = rowOf(bucket, key);
      if (rows[row] !== 0) return;
      rows[row] = tagOf(key);
      rows[row + 1] = key.second;
      rows[row + 2] = key.third;
      rows[row + 3] = key.fourth;
      rows[row + bodyAt] = body.first;
      rows[row + bodyAt + 1] = body.second;
      rows[row + bodyAt + 2] = body.third;
      rows[row + bodyAt + 3] = body.fourth;
      rows[row + momentAt] = at - bucket.index * bucketMicroseconds;
      bucket.count += 1;
    },
    forget(key, at) {
      const bucket = buckets.find((candidate) => candidate.index === Math.floor(at / bucketMicroseconds));
      if (bucket === undefined) return;
      const row = rowOf(bucket, key);
      if (bucket.rows[row] !== 0) removeRow(bucket, row);
    },
    count: () => buckets.reduce((sum, bucket) => sum + bucket.count, 0),
    bytes: () => buckets.reduce((sum, bucket) => sum + bucket.rows.byteLength, 0),
  };
}

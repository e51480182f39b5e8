// The idempotency keys of the last minutes, as flat tables of hashes: one table per minute, dropped whole when its minute is too old, so
// that remembering costs no objects and forgetting costs nothing.
//
// Invariants (seen-keys.test.ts names them):
//  1. A key is seen while its first sighting is younger than the window, to the microsecond; a repeat does not prolong it.
//  2. What is found is exactly what was remembered: 16 bytes of the key's hash are compared, not a shorter tag.
//  3. Memory follows the number of keys within the window plus one bucket; an idle table gives its room back.
import type { Instant } from "../contracts/src/instant.ts";
import { hashWord } from "./order-hash.ts";

const bucketCountPerWindow = 5;
const slotsFirst = 1_024;
/** Words of a slot beside its tag: three of the key's hash, four of the body's, and the moment within the bucket. */
const stride = 8;

interface Bucket {
  /** Which stretch of time it is for; NaN when unused. */
  index: number;
  count: number;
  /** The first word of the key's hash, never 0; 0 is an empty slot. */
  tags: Uint32Array;
  words: Uint32Array;
}

export interface SeenKeys {
  /** The moment of the first sighting within the window, or NaN; then `sameBody` tells about what was found. */
  find(keyHash: string, bodyHash: string, at: Instant): number;
  /** Whether the body of the key that `find` found last was the same. */
  sameBody(): boolean;
  /** Remembers a key that `find` did not find. */
  remember(keyHash: string, bodyHash: string, at: Instant): void;
  /** Takes a sighting back. */
  forget(keyHash: string, at: Instant): void;
  /** Keys held, those included that are out of the window and not yet dropped. */
  count(): number;
  bytes(): number;
}

function tagOf(hash: string): number {
  return hashWord(hash, 0) || 1;
}

function isKeyAt(bucket: Bucket, slot: number, keyHash: string): boolean {
  const { words } = bucket;
  const base = slot * stride;
  return (
    words[base] === hashWord(keyHash, 1) &&
    words[base + 1] === hashWord(keyHash, 2) &&
    words[base + 2] === hashWord(keyHash, 3)
  );
}

/** The slot of the key, or -1. */
function slotOf(bucket: Bucket, keyHash: string, tag: number): number {
  const { tags } = bucket;
  const mask = tags.length - 1;
  let slot = tag & mask;
  for (;;) {
    const found = tags[slot];
    if (found === 0) return -1;
    if (found === tag && isKeyAt(bucket, slot, keyHash)) return slot;
    slot = (slot + 1) & mask;
  }
}

function emptySlot(tags: Uint32Array, tag: number): number {
  const mask = tags.length - 1;
  let slot = tag & mask;
  while (tags[slot] !== 0) slot = (slot + 1) & mask;
  return slot;
}

function resize(bucket: Bucket, slots: number): void {
  const tags = new Uint32Array(slots);
  const words = new Uint32Array(slots * stride);
  for (let slot = 0; slot < bucket.tags.length; slot += 1) {
    const tag = bucket.tags[slot] ?? 0;
    if (tag === 0) continue;
    const target = emptySlot(tags, tag);
    tags[target] = tag;
    words.set(bucket.words.subarray(slot * stride, slot * stride + stride), target * stride);
  }
  bucket.tags = tags;
  bucket.words = words;
}

/** Empties a slot and moves up those behind it that would no longer be found. */
function removeSlot(bucket: Bucket, slot: number): void {
  const { tags, words } = bucket;
  const mask = tags.length - 1;
  let hole = slot;
  let next = (slot + 1) & mask;
  for (;;) {
    const tag = tags[next] ?? 0;
    if (tag === 0) break;
    const home = tag & mask;
    // The one at `next` may move into the hole only if the hole does not lie before its home.
    if (((next - home) & mask) >= ((next - hole) & mask)) {
      tags[hole] = tag;
      words.copyWithin(hole * stride, next * stride, next * stride + stride);
      hole = next;
    }
    next = (next + 1) & mask;
  }
  tags[hole] = 0;
  bucket.count -= 1;
}

export function createSeenKeys(windowMs: number): SeenKeys {
  const windowMicroseconds = windowMs * 1_000;
  const bucketMicroseconds = Math.ceil(windowMicroseconds / bucketCountPerWindow);
  const ringLength = bucketCountPerWindow + 1;
  const buckets: Bucket[] = Array.from({ length: ringLength }, () => ({
    index: Number.NaN,
    count: 0,
    tags: new Uint32Array(slotsFirst),
    words: new Uint32Array(slotsFirst * stride),
  }));
  let foundSameBody = false;

  function bucketFor(at: Instant): Bucket | undefined {
    const index = Math.floor(at / bucketMicroseconds);
    const bucket = buckets[((index % ringLength) + ringLength) % ringLength];
    if (bucket === undefined || bucket.index > index) return undefined;
    if (bucket.index !== index) {
      // As much room as the stretch before it needed, so that a steady flow never has to grow a table.
      const before = buckets[(((index - 1) % ringLength) + ringLength) % ringLength];
      const expected = before !== undefined && before.index === index - 1 ? before.tags.length : slotsFirst;
      const roomy = before !== undefined && before.count * 8 < before.tags.length && expected > slotsFirst;
      const slots = roomy ? expected / 2 : expected;
      bucket.index = index;
      if (bucket.count > 0 || bucket.tags.length !== slots) {
        bucket.tags = new Uint32Array(slots);
        bucket.words = new Uint32Array(slots * stride);
      }
      bucket.count = 0;
    }
    return bucket;
  }

  return {
    find(keyHash, bodyHash, at) {
      const tag = tagOf(keyHash);
      for (const bucket of buckets) {
        if (bucket.count === 0) continue;
        const slot = slotOf(bucket, keyHash, tag);
        if (slot === -1) continue;
        const base = slot * stride;
        const { words } = bucket;
        const seenAt = bucket.index * bucketMicroseconds + (words[base + 7] ?? 0);
        if (at - seenAt >= windowMicroseconds) continue;
        foundSameBody =
          words[base + 3] === hashWord(bodyHash, 0) &&
          words[base + 4] === hashWord(bodyHash, 1) &&
          words[base + 5] === hashWord(bodyHash, 2) &&
          words[base + 6] === hashWord(bodyHash, 3);
        return seenAt;
      }
      return Number.NaN;
    },
    sameBody: () => foundSameBody,
    remember(keyHash, bodyHash, at) {
      const bucket = bucketFor(at);
      // Older than everything that is kept: it could not be found anyway.
      if (bucket === undefined) return;
      const tag = tagOf(keyHash);
      if (slotOf(bucket, keyHash, tag) !== -1) return;
      if ((bucket.count + 1) * 2 > bucket.tags.length) resize(bucket, bucket.tags.length * 2);
      const slot = emptySlot(bucket.tags, tag);
      const base = slot * stride;
      const { words } = bucket;
      bucket.tags[slot] = tag;
      for (let index = 0; index < 3; index += 1) words[base + index] = hashWord(keyHash, index + 1);
      for (let index = 0; index < 4; index += 1) words[base + 3 + index] = hashWord(bodyHash, index);
      words[base + 7] = at - bucket.index * bucketMicroseconds;
      bucket.count += 1;
    },
    forget(keyHash, at) {
      const bucket = buckets.find((candidate) => candidate.index === Math.floor(at / bucketMicroseconds));
      if (bucket === undefined) return;
      const slot = slotOf(bucket, keyHash, tagOf(keyHash));
      if (slot !== -1) removeSlot(bucket, slot);
    },
    count: () => buckets.reduce((sum, bucket) => sum + bucket.count, 0),
    bytes: () => buckets.reduce((sum, bucket) => sum + bucket.tags.byteLength + bucket.words.byteLength, 0),
  };
}

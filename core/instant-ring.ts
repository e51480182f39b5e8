// Moments in the order in which they came, those of a window of time and no more: whoever asks "how many within the last second?" gets an
// exact answer without a timer that forgets. A moment can be taken back, with everything that it pushed out.
import type { Instant } from "../contracts/src/instant.ts";

export interface InstantRing {
  /** Their number is a power of two. */
  instants: Float64Array;
  /** Where the next one goes. */
  next: number;
  size: number;
  /** Counts what was added and not taken back. */
  version: number;
}

const slotsFirst = 8;
/** More than any limit on a pace; beyond it the oldest leave early. */
const slotsMax = 1_048_576;

export function createInstantRing(): InstantRing {
  return { instants: new Float64Array(slotsFirst), next: 0, size: 0, version: 0 };
}

function instantAt(ring: InstantRing, fromOldest: number): number {
  const mask = ring.instants.length - 1;
  return ring.instants[(ring.next - ring.size + fromOldest) & mask] ?? Number.NaN;
}

/** How many are younger than the window; one that is exactly as old as the window is out of it. */
export function countWithin(ring: InstantRing, at: number, windowMicroseconds: number): number {
  let low = 0;
  let high = ring.size;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (at - instantAt(ring, middle) < windowMicroseconds) high = middle;
    else low = middle + 1;
  }
  return ring.size - low;
}

function grow(ring: InstantRing): void {
  const larger = new Float64Array(ring.instants.length * 2);
  for (let index = 0; index < ring.size; index += 1) larger[index] = instantAt(ring, index);
  ring.instants = larger;
  ring.next = ring.size;
}

/**
 * Adds a moment, and lets those go that are out of the window. A moment before the newest is taken as the newest. Answers how many there
 * were before, which `removeInstant` needs beside the ring's version after it.
 */
export function addInstant(ring: InstantRing, at: Instant, windowMicroseconds: number): number {
  const sizeBefore = ring.size;
  const newest = sizeBefore === 0 ? at : instantAt(ring, sizeBefore - 1);
  const value = newest > at ? newest : at;
  // Whoever leaves now keeps its slot until the next comes, so that taking this one back brings it back.
  if (sizeBefore === ring.instants.length && sizeBefore < slotsMax) grow(ring);
  ring.size = countWithin(ring, value, windowMicroseconds);
  if (ring.size === ring.instants.length) ring.size -= 1;
  const mask = ring.instants.length - 1;
  ring.instants[ring.next & mask] = value;
  ring.next = (ring.next + 1) & mask;
  ring.size += 1;
  ring.version += 1;
  return sizeBefore;
}

/** Takes a moment back: exactly, when it was the last that was added; else it alone. */
export function removeInstant(ring: InstantRing, at: Instant, version: number, sizeBefore: number): void {
  const mask = ring.instants.length - 1;
  if (ring.version === version) {
    ring.next = (ring.next - 1) & mask;
    ring.size = sizeBefore;
    ring.version -= 1;
    return;
  }
  let index = ring.size - 1;
  while (index >= 0 && instantAt(ring, index) > at) index -= 1;
  if (index < 0 || instantAt(ring, index) !== at) return;
  const start = ring.next - ring.size;
  for (let place = index; place < ring.size - 1; place += 1) {
    ring.instants[(start + place) & mask] = instantAt(ring, place + 1);
  }
  ring.next = (ring.next - 1) & mask;
  ring.size -= 1;
  ring.version += 1;
}

/** Those younger than the window, oldest first. */
export function instantsWithin(ring: InstantRing, at: number, windowMicroseconds: number): number[] {
  const found: number[] = [];
  for (let index = ring.size - countWithin(ring, at, windowMicroseconds); index < ring.size; index += 1) {
    found.push(instantAt(ring, index));
  }
  return found;
}

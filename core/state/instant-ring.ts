// Moments in the order in which they came, those of a window of time and no more: whoever asks "how many within the last second?" gets an
// exact answer without a timer that forgets. A moment can be taken back, with everything that it pushed out.
import type { Instant } from "../../contracts/src/instant.ts";
import type { CellArena } from "./cell-arena.ts";

export interface InstantRing {
  /** They stand in a stretch of these, from `base` on; the number of their places is a power of two. */
  cells: Float64Array;
  base: number;
  slots: number;
  /** Where the next one goes. */
  next: number;
  size: number;
  /** Counts what was added and not taken back. */
  version: number;
}

const slotsFirst = 8;
/** More than any limit on a pace; beyond it the oldest leave early. */
const slotsMax = 1_048_576;

/** Those of an arena begin near the other figures; one that grows has an array of its own. */
export function createInstantRing(arena?: CellArena): InstantRing {
  const block = arena?.take(slotsFirst);
  const cells = block?.page.cells ?? new Float64Array(slotsFirst);
  return { cells, base: block?.base ?? 0, slots: slotsFirst, next: 0, size: 0, version: 0 };
}

function instantAt(ring: InstantRing, fromOldest: number): number {
  return ring.cells[ring.base + ((ring.next - ring.size + fromOldest) & (ring.slots - 1))] ?? Number.NaN;
}

/**
 * How many are younger than the window; one that is exactly as old as the window is out of it. Those that are out were thrown away when the
 * newest came, so few of the rest can be: the search goes up from the oldest in growing steps, and mostly ends at once.
 */
export function countWithin(ring: InstantRing, at: number, windowMicroseconds: number): number {
  const { size } = ring;
  if (size === 0 || at - instantAt(ring, 0) < windowMicroseconds) return size;
  let low = 0;
  let step = 1;
  while (low + step < size && at - instantAt(ring, low + step) >= windowMicroseconds) {
    low += step;
    step *= 2;
  }
  let high = Math.min(low + step, size);
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (at - instantAt(ring, middle) < windowMicroseconds) high = middle;
    else low = middle;
  }
  return size - high;
}

/** Everything that was ever written keeps its neighbours, also what has left: taking back what came later brings it back. */
function grow(ring: InstantRing): void {
  const { cells, base, slots } = ring;
  const larger = new Float64Array(slots * 2);
  for (let index = 0; index < slots; index += 1) larger[index] = cells[base + ((ring.next + index) & (slots - 1))] ?? 0;
  ring.cells = larger;
  ring.base = 0;
  ring.slots = slots * 2;
  ring.next = slots;
}

/** What must be known to take a moment back. */
export interface AddedInstant {
  readonly version: number;
  readonly sizeBefore: number;
  /** What stood where it was written, and how many places there were then. */
  readonly left: number;
  readonly slots: number;
}

/** Adds a moment, and lets those go that are out of the window. A moment before the newest is taken as the newest. */
export function addInstant(ring: InstantRing, at: Instant, windowMicroseconds: number): AddedInstant {
  return addCounted(ring, at, windowMicroseconds, countWithin(ring, at, windowMicroseconds));
}

/** The same for whoever has just counted those that are within the window at that moment. */
export function addCounted(ring: InstantRing, at: Instant, windowMicroseconds: number, counted: number): AddedInstant {
  const sizeBefore = ring.size;
  const newest = sizeBefore === 0 ? at : instantAt(ring, sizeBefore - 1);
  const value = newest > at ? newest : at;
  ring.size = value === at ? counted : countWithin(ring, value, windowMicroseconds);
  if (ring.size === ring.slots) {
    if (ring.size < slotsMax) grow(ring);
    else ring.size -= 1;
  }
  const { cells, base, slots } = ring;
  const left = cells[base + ring.next] ?? 0;
  cells[base + ring.next] = value;
  ring.next = (ring.next + 1) & (slots - 1);
  ring.size += 1;
  ring.version += 1;
  return { version: ring.version, sizeBefore, left, slots };
}

/** Takes a moment back: exactly, when it was the last that was added; else it alone. */
export function removeInstant(ring: InstantRing, at: Instant, added: AddedInstant): void {
  const { cells, base } = ring;
  const mask = ring.slots - 1;
  if (ring.version === added.version) {
    ring.next = (ring.next - 1) & mask;
    cells[base + ((ring.next - added.slots) & mask)] = added.left;
    ring.size = added.sizeBefore;
    ring.version -= 1;
    return;
  }
  let index = ring.size - 1;
  while (index >= 0 && instantAt(ring, index) > at) index -= 1;
  if (index < 0 || instantAt(ring, index) !== at) return;
  const start = ring.next - ring.size;
  for (let place = index; place < ring.size - 1; place += 1) {
    cells[base + ((start + place) & mask)] = instantAt(ring, place + 1);
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

// A random walk in continuous time as a pure function of a lane and a moment: no step depends on the steps before, so any moment of any year
// costs the same. It is Lévy's construction: a straight line over 136 years, whose middle is moved at random, and the middle of each half, and so
// on down to a quarter of a second. Increments over any time are independent and have that time as their variance.
import { bitsAt } from "./seeded-random.ts";

const spanS = 2 ** 32;
/** Intervals of 2^32 s, 2^31 s … down to half a second. */
const levelCount = 34;
/** Intervals of 2^16 s (18 hours) and shorter make the course of a day, longer ones that of the years. */
const firstDayLevel = 16;

/** The part of the walk that days and years make. */
export function longWalk(lane: number, seconds: number): number {
  const end = Math.sqrt(spanS) * normalAt(lane, -1, 0);
  return (seconds / spanS) * end + levels(lane, seconds, 0, firstDayLevel);
}

/** The part that is made within a day; it comes back to zero every 18 hours. */
export function dayWalk(lane: number, seconds: number): number {
  return levels(lane, seconds, firstDayLevel, levelCount);
}

/** The length of each level's intervals, and the deviation of their middles. */
const lengths: readonly number[] = Array.from({ length: levelCount }, (_unused, level) => spanS / 2 ** level);
const deviations: readonly number[] = lengths.map((length) => Math.sqrt(length) / 2);

function levels(lane: number, seconds: number, from: number, to: number): number {
  let sum = 0;
  for (let level = from; level < to; level += 1) {
    const at = seconds / (lengths[level] ?? 1);
    const place = Math.floor(at);
    const within = at - place;
    const tent = within < 0.5 ? 2 * within : 2 * (1 - within);
    sum += tent * normalAt(lane, level, place) * (deviations[level] ?? 0);
  }
  return sum;
}

/** Nearly normal, with variance 1 and never beyond 3.5: the sum of the four bytes of a random number. */
function normalAt(lane: number, level: number, place: number): number {
  const bits = bitsAt((lane + Math.imul(level + 2, 0x9e37_79b1)) >>> 0, place);
  const sum = (bits & 0xff) + ((bits >>> 8) & 0xff) + ((bits >>> 16) & 0xff) + (bits >>> 24);
  return (sum - 510) / bytesDeviation;
}

const bytesDeviation = Math.sqrt((4 * (256 * 256 - 1)) / 12);

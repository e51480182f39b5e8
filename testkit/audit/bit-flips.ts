// Attack A1: single bits of a file, all of them or a seeded sample, and where a verifier must find each.
import type { Verdict } from "./test-log.ts";

export interface Flip {
  readonly bytes: Uint8Array;
  readonly at: number;
  readonly bit: number;
  /** Which line the byte is on, with its line end: 0 and 1 are the head of a bundle, entries follow. */
  readonly line: number;
}

/** A sample of `count` flips, or every one when no count is given. */
export function* flips(bytes: Uint8Array, seed = 0, count?: number): Iterable<Flip> {
  const lines = new Uint32Array(bytes.length);
  for (let at = 1; at < bytes.length; at += 1) lines[at] = (lines[at - 1] ?? 0) + (bytes[at - 1] === 10 ? 1 : 0);
  const flip = (n: number): Flip => ({ bytes, at: n >> 3, bit: n & 7, line: lines[n >> 3] ?? 0 });
  if (count === undefined) {
    for (let n = 0; n < bytes.length * 8; n += 1) yield flip(n);
    return;
  }
  // A linear congruential generator is random enough to choose places.
  let state = seed >>> 0;
  for (let i = 0; i < count; i += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield flip(Math.floor((state / 2 ** 32) * bytes.length * 8));
  }
}

export function flipped({ bytes, at, bit }: Flip): Uint8Array {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ (1 << bit);
  return copy;
}

/** A bit of an entry must be found at that entry; one of the head must be found. */
export const isAtItsPlace = ({ line }: Flip, { verdict, sequence }: Verdict): boolean =>
  verdict === "no" && (line < 2 || sequence === line - 2);

// Seeded randomness: xoshiro128** over 32-bit words, seeded through splitmix32, so that one number reproduces a whole run on
// every machine. It is for tests and simulations only; nothing secret may come from it.
import type { Random } from "../../ports/random.ts";

export interface Prng extends Random {
  /** The next 32 random bits. */
  word(): number;
  /** A whole number from 0 up to, not including, the bound. */
  below(bound: number): number;
  /** True with this probability (0 to 1). */
  chance(probability: number): boolean;
  /** A PRNG of its own for one purpose, so that one draw more in one place does not change every other place. */
  fork(purpose: string): Prng;
}

function splitmix(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = state ^ (state >>> 16);
    mixed = Math.imul(mixed, 0x21f0aaad);
    mixed ^= mixed >>> 15;
    mixed = Math.imul(mixed, 0x735a2d97);
    return (mixed ^ (mixed >>> 15)) >>> 0;
  };
}

function rotateLeft(word: number, by: number): number {
  return ((word << by) | (word >>> (32 - by))) >>> 0;
}

/** The FNV-1a hash of a purpose's name: which fork it is. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0;
  }
  return hash;
}

/** What a byte is in hexadecimal. */
const hexes = Array.from({ length: 256 }, (_unused, byte) => byte.toString(16).padStart(2, "0"));

function uuidOf(bytes: Uint8Array): string {
  let text = "";
  bytes.forEach((byte, index) => {
    if (index === 4 || index === 6 || index === 8 || index === 10) text += "-";
    const marked = index === 6 ? (byte & 0x0f) | 0x40 : index === 8 ? (byte & 0x3f) | 0x80 : byte;
    text += hexes[marked];
  });
  return text;
}

/** Seeds are whole numbers from 0 to 2^53 - 1. */
export function prng(seed: number): Prng {
  if (!Number.isSafeInteger(seed) || seed < 0) throw new Error(`a seed is a whole number from 0 on, not ${seed}`);
  const low = splitmix(seed % 0x1_0000_0000);
  const high = splitmix(Math.floor(seed / 0x1_0000_0000) ^ 0x5bd1e995);
  let a = (low() ^ high()) >>> 0;
  let b = (low() ^ high()) >>> 0;
  let c = (low() ^ high()) >>> 0;
  let d = (low() ^ high()) >>> 0 || 1;
  const word = () => {
    const result = Math.imul(rotateLeft(Math.imul(b, 5) >>> 0, 7), 9) >>> 0;
    const shifted = (b << 9) >>> 0;
    c = (c ^ a) >>> 0;
    d = (d ^ b) >>> 0;
    b = (b ^ c) >>> 0;
    a = (a ^ d) >>> 0;
    c = (c ^ shifted) >>> 0;
    d = rotateLeft(d, 11);
    return result;
  };
  const bytes = (count: number) => {
    const drawn = new Uint8Array(count);
    for (let index = 0; index < count; index += 1) drawn[index] = word() >>> 24;
    return drawn;
  };
  return {
    word,
    bytes,
    uuid: () => uuidOf(bytes(16)),
    // The bias of scaling 32 bits is below one in a million for the small bounds of a simulation.
    below: (bound) => Math.floor((word() / 0x1_0000_0000) * bound),
    chance: (probability) => word() / 0x1_0000_0000 < probability,
    fork: (purpose) => prng((hashOf(`${purpose} ${seed}`) >>> 11) * 0x1_0000_0000 + hashOf(`${seed} ${purpose}`)),
  };
}

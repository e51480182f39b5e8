// Chance that is a pure function of a seed, a name and a place: the same everywhere and at any time, without anything being kept. Only
// operations that every machine rounds alike.

/** A lane of chance of its own for a name: FNV-1a, begun from the seed. */
export function laneOf(seed: number, name: string): number {
  let hash = (0x811c_9dc5 ^ Math.imul(seed >>> 0, 0x0100_0193)) >>> 0;
  for (let index = 0; index < name.length; index += 1) {
    hash = Math.imul(hash ^ name.charCodeAt(index), 0x0100_0193) >>> 0;
  }
  return hash;
}

/** 32 bits that look random, of a lane and a whole place in it. */
export function bitsAt(lane: number, place: number): number {
  const high = Math.floor(place / 2 ** 32);
  let mixed = (lane ^ Math.imul(place >>> 0, 0x9e37_79b1) ^ Math.imul(high, 0x85eb_ca6b)) >>> 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0_aaad);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a_2d97);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}

/** From 0 up to, not including, 1. */
export function fractionAt(lane: number, place: number): number {
  return bitsAt(lane, place) / 2 ** 32;
}

// Bytes that are almost the given ones: a few of them changed, left out or put in, from a seeded PRNG.
import type { Prng } from "../virtual/prng.ts";

export function mutated(bytes: Uint8Array, random: Prng): Uint8Array {
  const copy = Array.from(bytes);
  for (let changes = 1 + random.below(3); changes > 0; changes -= 1) {
    const at = random.below(copy.length + 1);
    const kind = random.below(3);
    if (kind === 0) copy[at] = random.below(256);
    else if (kind === 1) copy.splice(at, 1 + random.below(4));
    else copy.splice(at, 0, ...Array.from({ length: 1 + random.below(4) }, () => random.below(128)));
  }
  // A random change may put back what an earlier one took away; the caller asked for a change and gets one.
  const isSame = copy.length === bytes.length && copy.every((byte, at) => byte === bytes[at]);
  return isSame ? mutated(bytes, random) : Uint8Array.from(copy);
}

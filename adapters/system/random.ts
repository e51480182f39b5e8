// Real randomness: the operating system's cryptographic random source.
import { randomBytes, randomUUID } from "node:crypto";
import type { Random } from "../../ports/random.ts";

export function systemRandom(): Random {
  return {
    // A plain Uint8Array of its own memory: a Buffer may be a window on a shared pool.
    bytes: (count) => Uint8Array.from(randomBytes(count)),
    uuid: () => randomUUID(),
  };
}

// A name that follows from what it is made of: 32 hexadecimal digits of the SHA-256 of its parts, each with its length, so that no two lists of
// parts run into one.
import type { Sha256 } from "../../ports/hashing.ts";

export function shortHash(sha256: Sha256, parts: readonly string[]): string {
  const bytes = sha256(JSON.stringify(parts));
  return Array.from(bytes.subarray(0, 16), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

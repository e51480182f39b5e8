// Who asked is a part of what makes two orders under one key the same: another caller's key is a key that was used for another order, so that it is told
// nothing of what was decided for somebody else.
import { type Hash, hashAt, hashBytes } from "./order-hash.ts";

/** The hash of a body as that caller's; without a name it stays what it is. */
export type AskerHasher = (body: Hash, asker: string) => Hash;

/** Callers are few, and each asks often. */
const askersMax = 1_000;

/** The library's BLAKE3 gives 32 characters with a byte in each. */
export function createAskerHasher(blake3: (content: string) => string): AskerHasher {
  const known = new Map<string, Hash>();
  function hashOf(asker: string): Hash {
    const found = known.get(asker);
    if (found !== undefined) return found;
    if (known.size >= askersMax) known.clear();
    const bytes = Uint8Array.from(blake3(asker).slice(0, hashBytes), (character) => character.charCodeAt(0));
    const hash = hashAt(bytes, 0);
    known.set(asker, hash);
    return hash;
  }
  return (body, asker) => {
    if (asker === "") return body;
    const own = hashOf(asker);
    return {
      first: body.first ^ own.first,
      second: body.second ^ own.second,
      third: body.third ^ own.third,
      fourth: body.fourth ^ own.fourth,
    };
  };
}

// Tokens that were verified already, by their hash: the hot path costs a hash and a few comparisons. What is kept here was right
// once; whether it still is, is asked at every use.
import type { Identity } from "../../../ports/identity.ts";
import type { KeyMark } from "./token-issuer.ts";

export interface VerifiedToken {
  readonly identity: Identity;
  readonly keyId: string;
  /** The key's mark at the time. */
  readonly mark: NonNullable<KeyMark>;
}

export interface VerifiedTokens {
  get(hash: string): VerifiedToken | undefined;
  put(hash: string, verified: VerifiedToken): void;
  remove(hash: string): void;
}

/** Keeps the ones used last. */
export function createVerifiedTokens(sizeMax: number): VerifiedTokens {
  // A Map remembers the order of insertion, so the first is the one that was not used for longest.
  const byHash = new Map<string, VerifiedToken>();
  return {
    get(hash) {
      const found = byHash.get(hash);
      if (found === undefined) return undefined;
      byHash.delete(hash);
      byHash.set(hash, found);
      return found;
    },
    put(hash, verified) {
      byHash.delete(hash);
      byHash.set(hash, verified);
      if (byHash.size <= sizeMax) return;
      const oldest = byHash.keys().next();
      if (oldest.done !== true) byHash.delete(oldest.value);
    },
    remove(hash) {
      byHash.delete(hash);
    },
  };
}

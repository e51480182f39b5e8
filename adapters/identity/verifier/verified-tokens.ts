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

interface VerifiedTokens {
  get(hash: string): VerifiedToken | undefined;
  put(hash: string, verified: VerifiedToken): void;
  remove(hash: string): void;
}

/**
 * Keeps at most so many, and among them at least the half of that number that was used last. Two generations do it: whoever is used
 * belongs to the young one, and when that is full it becomes the old one, and the old one is forgotten. To keep the exact order of
 * use, an entry would have to be taken out of its Map and put back at every hit; a Map keeps what was taken out in the same chain
 * until it is rebuilt, so that a busy token in a full Map would cost a walk over thousands of its own remains.
 */
export function createVerifiedTokens(sizeMax: number): VerifiedTokens {
  const generationSizeMax = Math.max(1, Math.floor(sizeMax / 2));
  let young = new Map<string, VerifiedToken>();
  let old = new Map<string, VerifiedToken>();

  function put(hash: string, verified: VerifiedToken): void {
    old.delete(hash);
    if (young.size >= generationSizeMax && !young.has(hash)) {
      old = young;
      young = new Map();
    }
    young.set(hash, verified);
  }

  return {
    get(hash) {
      const found = young.get(hash);
      if (found !== undefined) return found;
      const aged = old.get(hash);
      if (aged !== undefined) put(hash, aged);
      return aged;
    },
    put,
    remove(hash) {
      young.delete(hash);
      old.delete(hash);
    },
  };
}

// Which of the log's keys is in force at which size. It starts from the keys that the verifier was given and follows the rotations and revocations
// that stand in the log itself.
//
// Invariants:
//  1. A key that was not given is trusted only through a handover under a key that was trusted, and in force, at that size.
//  2. A rotation at sequence s ends the old key at size s + 1 and begins the new one there. A key that has ended never begins again.
//  3. A revocation works backwards too: whatever was trusted only through a signature that it takes away is not trusted any more.
import type { Sha256OfBytes } from "./hash.ts";
import { ed25519Type, type Malformed, readVerifierKey, type VerifierKey } from "./signed-note.ts";

export interface KeyTerm {
  readonly key: VerifierKey;
  /** The first and the last size of a checkpoint that this key may sign. */
  readonly fromSize: number;
  readonly toSize: number;
  /** The vkey under which its handover was trusted; undefined for a key that was given. */
  readonly through: string | undefined;
}

export interface KeyRing {
  readonly terms: readonly KeyTerm[];
}

export interface KeyRotation {
  readonly kind: "rotated";
  readonly sequence: number;
  readonly oldKey: VerifierKey;
  readonly newKey: VerifierKey;
}

export interface KeyRevocation {
  readonly kind: "revoked";
  readonly sequence: number;
  readonly key: VerifierKey;
  readonly trustedSize: number;
}

export const rotatedAction = "key.rotated";
export const revokedAction = "key.revoked";

/** The ring of a verifier that was given these keys and has seen nothing of the log yet. */
export function startKeyRing(trusted: readonly VerifierKey[]): KeyRing {
  const distinct = new Map(trusted.map((key) => [key.vkey, key]));
  const terms = [...distinct.values()].map((key) => ({
    key,
    fromSize: 0,
    toSize: Number.MAX_SAFE_INTEGER,
    through: undefined,
  }));
  return { terms };
}

/** The ring after a rotation whose handover both keys have signed. Whether the new key is trusted is decided here. */
export function rotateKey(ring: KeyRing, { sequence, oldKey, newKey }: KeyRotation): KeyRing {
  const size = sequence + 1;
  const trusted = ring.terms.some((term) => term.key.vkey === oldKey.vkey && covers(term, size));
  const known = ring.terms.some((term) => term.key.vkey === newKey.vkey);
  const terms = ring.terms.map((term) => {
    if (term.key.vkey === oldKey.vkey) return { ...term, toSize: Math.min(term.toSize, size) };
    if (term.key.vkey === newKey.vkey) return { ...term, fromSize: Math.max(term.fromSize, size) };
    return term;
  });
  if (trusted && !known) {
    terms.push({ key: newKey, fromSize: size, toSize: Number.MAX_SAFE_INTEGER, through: oldKey.vkey });
  }
  return { terms };
}

/** The ring after a revocation. */
export function revokeKey(ring: KeyRing, { key, trustedSize }: KeyRevocation): KeyRing {
  let terms = ring.terms.map((term) =>
    term.key.vkey === key.vkey ? { ...term, toSize: Math.min(term.toSize, trustedSize) } : term,
  );
  // A key that was trusted through a handover of the revoked one beyond its trusted size falls, and so does what was trusted through that.
  for (;;) {
    const left = terms.filter((term) => {
      if (term.through === undefined) return true;
      const giver = terms.find((other) => other.key.vkey === term.through);
      return giver !== undefined && term.fromSize <= giver.toSize;
    });
    if (left.length === terms.length) return { terms };
    terms = left;
  }
}

/** Those of these keys that may sign a checkpoint of this size. */
export function keysInForce(ring: KeyRing, size: number): readonly VerifierKey[] {
  return ring.terms.filter((term) => covers(term, size)).map((term) => term.key);
}

/** Every key that the ring knows, in force or not. */
export function keysKnown(ring: KeyRing): readonly VerifierKey[] {
  return ring.terms.map((term) => term.key);
}

function covers(term: KeyTerm, size: number): boolean {
  return term.fromSize <= size && size <= term.toSize;
}

interface KeyEntry {
  readonly action: string;
  readonly sequence: number;
  readonly subjectId: string;
  readonly data: unknown;
}

/** The change of keys that an entry records; undefined when it records none. The keys are those of `origin`. */
export function readKeyChange(
  { action, sequence, subjectId, data }: KeyEntry,
  origin: string,
  sha256: Sha256OfBytes,
): KeyRotation | KeyRevocation | Malformed | undefined {
  if (action !== rotatedAction && action !== revokedAction) return undefined;
  const fields = typeof data === "object" && data !== null ? (data as Readonly<Record<string, unknown>>) : {};
  const names = Object.keys(fields).sort().join(" ");
  const keyOf = (vkey: unknown): VerifierKey | undefined => {
    const key = typeof vkey === "string" ? readVerifierKey(vkey, sha256) : undefined;
    return key?.type === ed25519Type && key.name === origin ? key : undefined;
  };
  if (action === rotatedAction) {
    const oldKey = keyOf(fields["old_key"]);
    const newKey = keyOf(fields["new_key"]);
    if (names !== "new_key old_key" || oldKey === undefined || newKey === undefined) {
      return { malformed: "a rotation without an old and a new key of this log" };
    }
    if (oldKey.id === newKey.id) return { malformed: "a rotation to a key of the same id" };
    if (subjectId !== newKey.id) return { malformed: "a rotation whose subject is not the new key" };
    return { kind: "rotated", sequence, oldKey, newKey };
  }
  const key = keyOf(fields["key"]);
  const trustedSize = fields["trusted_size"];
  if (names !== "key trusted_size" || key === undefined) return { malformed: "a revocation without a key of this log" };
  if (typeof trustedSize !== "number" || !Number.isSafeInteger(trustedSize) || trustedSize < 0) {
    return { malformed: "a revocation without a trusted size" };
  }
  if (subjectId !== key.id) return { malformed: "a revocation whose subject is not the key" };
  return { kind: "revoked", sequence, key, trustedSize };
}

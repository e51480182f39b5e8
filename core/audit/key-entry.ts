// The entries that change a key, recognised by their first bytes: most entries are none, and every one of a log is asked.
import { readEntry } from "./entry.ts";
import { type Refused, refused } from "./fault.ts";
import type { Sha256OfBytes } from "./hash.ts";
import { type KeyRevocation, type KeyRing, type KeyRotation, readKeyChange, revokeKey, rotateKey } from "./key-ring.ts";

const keyEntryStart: readonly number[] = [...'{"action":"key.r'].map((character) => character.charCodeAt(0));

/** Whether the entry may change a key: `action` is the first member of its text. */
function isKeyEntry(text: Uint8Array): boolean {
  for (let at = keyEntryStart.length - 1; at >= 0; at -= 1) if (text[at] !== keyEntryStart[at]) return false;
  return true;
}

/**
 * The change of this log's keys that a good entry is; undefined when it is none. The shape of such an entry is part of the format, so one of
 * another shape is ENTRY_MALFORMED.
 */
export function keyChangeOf(
  text: Uint8Array,
  sequence: number,
  origin: string,
  sha256: Sha256OfBytes,
): KeyRotation | KeyRevocation | Refused | undefined {
  if (!isKeyEntry(text)) return undefined;
  const record = readEntry(text);
  if (record === undefined) return refused("ENTRY_MALFORMED", sequence, "an entry", "something else");
  const { action, subject_id: subjectId, data } = record;
  const change = readKeyChange({ action, sequence, subjectId, data }, origin, sha256);
  if (change === undefined || !("malformed" in change)) return change;
  return refused("ENTRY_MALFORMED", sequence, "a change of this log's keys", change.malformed);
}

/** The ring after a change whose handover cannot be seen: what it takes from a key counts, what a rotation would give to one does not. */
export function takeTrust(ring: KeyRing, change: KeyRotation | KeyRevocation): KeyRing {
  if (change.kind === "revoked") return revokeKey(ring, change);
  const known = new Set(ring.terms.map(({ key }) => key.vkey));
  return { terms: rotateKey(ring, change).terms.filter(({ key }) => known.has(key.vkey)) };
}

/** The log that a checkpoint must be of: the named one, else that of a trusted key, else its own. */
export function originAsked(named: string | undefined, ring: KeyRing, stated: string): string {
  const isOfKey = ring.terms.some(({ key }) => key.name === stated);
  return named ?? (isOfKey ? stated : (ring.terms[0]?.key.name ?? stated));
}

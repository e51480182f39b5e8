// Reference data as it is written: a version, who set it and why, and a hash by which everybody can tell what it was.

import type { Instant } from "../../contracts/src/instant.ts";
import { format } from "../../contracts/src/instant.ts";
import { type ReferenceChanged, type ReferenceKind, referenceKind } from "../../contracts/src/records/reference.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { canonicalText } from "../../contracts/src/text/canonical-text.ts";
import type { Sha256 } from "../../ports/hashing.ts";
import type { ReferenceVersion, UnitOfWork } from "../../ports/store.ts";

export { canonicalText };

interface ReferenceChange {
  readonly kind: ReferenceKind;
  readonly version: number;
  readonly content: unknown;
  readonly setBy: string;
  readonly reason: string;
  readonly loosening?: ReferenceChanged["loosening"];
}

/** By which everybody can tell what the content is. */
export function contentHash(content: unknown, sha256: Sha256): string {
  return hexOf(sha256(canonicalText(content)));
}

/** Writes the version and its event in one unit. */
export async function putReference(
  unit: UnitOfWork,
  { loosening, ...change }: ReferenceChange,
  at: Instant,
  sha256: Sha256,
): Promise<ReferenceVersion> {
  const hash = contentHash(change.content, sha256);
  const version: ReferenceVersion = { ...change, setAt: at, hash };
  await unit.reference.put(version);
  await unit.events.publish(subjects.referenceChanged, {
    kind: change.kind,
    version: change.version,
    set_by: change.setBy,
    set_at: format(at),
    reason: change.reason,
    hash,
    ...(loosening && { loosening }),
  });
  return version;
}

export type LockedReference = Readonly<Record<ReferenceKind, ReferenceVersion | undefined>>;

/** The newest of every kind, kept from others until the unit ends; always in the same order, so that two of them never wait in a circle. */
export async function lockReference(unit: UnitOfWork): Promise<LockedReference> {
  const locked: Partial<Record<ReferenceKind, ReferenceVersion | undefined>> = {};
  for (const kind of referenceKind.options) locked[kind] = await unit.reference.lock(kind);
  return locked as LockedReference;
}

export function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

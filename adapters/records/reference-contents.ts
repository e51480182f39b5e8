// Puts the newest document of each kind together. What is stored was validated when it was set and is validated again here: a document
// that an older version of the program wrote, or that somebody edited by hand, must not reach a gate as it is.
import { Fault } from "../../contracts/src/fault.ts";
import {
  type ReferenceContents,
  type ReferenceKind,
  referenceContents,
  referenceKind,
} from "../../contracts/src/records/reference.ts";
import type { Reference } from "../../ports/reference-data.ts";

interface NewestDocument {
  readonly version: number;
  readonly content: unknown;
}

export function referenceOf(change: number, newest: (kind: ReferenceKind) => NewestDocument | undefined): Reference {
  const contents: Partial<Record<ReferenceKind, unknown>> = {};
  const versions: Partial<Record<ReferenceKind, number>> = {};
  for (const kind of referenceKind.options) {
    const document = newest(kind);
    versions[kind] = document?.version ?? 0;
    contents[kind] = document === undefined ? [] : checked(kind, document);
  }
  return { ...(contents as ReferenceContents), versions: versions as Record<ReferenceKind, number>, change };
}

function checked(kind: ReferenceKind, document: NewestDocument): unknown {
  const read = referenceContents[kind].safeParse(document.content);
  if (read.success) return read.data;
  const where = read.error.issues.slice(0, 5).map((issue) => issue.path.join(".") || "(whole)");
  throw new Fault(
    "INTERNAL",
    `version ${document.version} of the reference data ${kind} is wrong at ${where.join(", ")}`,
    {
      retry: "never",
      facts: { kind, version: document.version },
    },
  );
}

// Reference data read from the memory store: the newest version of every kind, all of one moment.

import { referenceOf } from "../../adapters/records/reference-contents.ts";
import { Fault } from "../../contracts/src/fault.ts";
import type { Reference, ReferenceData } from "../../ports/reference-data.ts";
import { copyOf } from "./copy-of.ts";
import { type MemoryProcess, never } from "./tables.ts";

export function memoryReferenceData(process: MemoryProcess): ReferenceData {
  const { risk } = process.tables;
  const refuse = (): void => {
    if (!process.isReachable()) throw new Fault("STORE_UNAVAILABLE", "the store is out of reach", { retry: "later" });
  };
  let kept: Reference | undefined;
  return {
    async read() {
      if (!process.isAlive()) return never;
      refuse();
      if (kept?.change === risk.referenceChange) return kept;
      kept = referenceOf(risk.referenceChange, (kind) => {
        const [first, ...others] = risk.references.get(kind) ?? [];
        if (first === undefined) return undefined;
        const newest = others.reduce((best, one) => (one.version > best.version ? one : best), first);
        // A copy of the reader's own, as it would have from a database.
        return { version: newest.version, content: copyOf(newest.content) };
      });
      return kept;
    },
    async changed() {
      if (!process.isAlive()) return never;
      refuse();
      return risk.referenceChange;
    },
  };
}

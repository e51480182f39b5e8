// Ids that callers made up, in a form that a column and its index can hold: PostgreSQL's text has no zero character, half a surrogate
// pair cannot be encoded, and an index entry has a bounded size. An id that fits is kept as it is, so people find it as they know it;
// any other is cut and marked with its own hash, so two that differ stay different.
import { createHash } from "node:crypto";

export const idLengthMax = 128;
const hashLength = 32;
/** What nearly all ids are made of, and quicker to see. */
const ordinary = /^[ -~]*$/;
const unstorable = /[\0\p{Surrogate}]/u;
const unstorableAll = /[\0\p{Surrogate}]/gu;

export function storableId(id: string): string {
  if (id.length <= idLengthMax && (ordinary.test(id) || !unstorable.test(id))) return id;
  // UTF-16 keeps what UTF-8 cannot say: lone surrogates that differ have different hashes.
  const hash = createHash("sha256").update(Buffer.from(id, "utf16le")).digest("hex").slice(0, hashLength);
  const head = id.slice(0, idLengthMax - hashLength - 1).replace(unstorableAll, "");
  return `${head}#${hash}`;
}

// How a record is called where it is handed in, as its line says it: feedback names records so.
const references = [/"firmROEID":"([^"]{1,64})"/, /"TxId":"([^"]{1,64})"/];

/** Undefined for a line that names nothing. */
export function referenceOf(line: string): string | undefined {
  for (const pattern of references) {
    const found = pattern.exec(line)?.[1];
    if (found !== undefined) return found;
  }
  return undefined;
}

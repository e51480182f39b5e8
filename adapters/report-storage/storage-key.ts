// What a file in the storage for reports may be called: names below one place, none of which leads out of it.
import { Fault } from "../../contracts/src/fault.ts";

const keyForm = /^(?:[A-Za-z0-9][A-Za-z0-9._-]{0,199}\/){0,8}[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/;

/** Throws INVALID_ARGUMENT. */
export function mustBeKey(key: string): void {
  if (keyForm.test(key)) return;
  throw new Fault("INVALID_ARGUMENT", `${JSON.stringify(key.slice(0, 100))} is no name for a file in the storage.`, {
    retry: "never",
  });
}

export function storageConflict(key: string): Fault {
  const sentence = `The storage has another file as ${key}: move it away, or have the report made anew.`;
  return new Fault("REPORT_STORAGE_CONFLICT", sentence, { retry: "never" });
}

export function storageUnavailable(why: string, cause?: unknown): Fault {
  const sentence = `The storage for reports did not take a file: ${why}.`;
  return new Fault("REPORT_STORAGE_UNAVAILABLE", sentence, { retry: "later", cause });
}

// Reads a small file that holds a secret, and refuses one that others may read: whoever can read it holds what it opens.
import { closeSync, fstatSync, openSync, readFileSync } from "node:fs";
import type { FaultCode } from "../../contracts/src/codes.ts";
import { Fault, messageOf } from "../../contracts/src/fault.ts";

const bytesMax = 65_536;

/** `what` begins the sentence of a refusal: "The NATS credentials file". */
export function readPrivateFile(path: string, what: string, code: FaultCode): string {
  const refused = (sentence: string, cause?: unknown): Fault =>
    new Fault(code, `${what} ${path} ${sentence}`, { retry: "never", cause });
  let file: number;
  try {
    file = openSync(path, "r");
  } catch (cause) {
    throw refused(`cannot be read: ${messageOf(cause)}.`, cause);
  }
  try {
    // The mode is asked of the open file, so that nobody can exchange it between the question and the reading.
    const facts = fstatSync(file);
    if (!facts.isFile() || facts.size > bytesMax) throw refused("is not a small file.");
    const mode = facts.mode & 0o777;
    // A file of root's may be shared with our group: that is how secrets are mounted for a process that is not root.
    const forbidden = facts.uid === 0 && process.getuid?.() !== 0 ? 0o037 : 0o077;
    if ((mode & forbidden) !== 0) {
      throw refused(`is open to others (mode ${mode.toString(8).padStart(4, "0")}). Run chmod 600 on it.`);
    }
    return readFileSync(file, "utf8");
  } finally {
    closeSync(file);
  }
}

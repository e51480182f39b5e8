// What a child process swears to, one line of JSON each, written straight to a file before it goes on: the page cache outlives a
// kill -9 of the process, so every line whose write returned is there afterwards. Only the last line may be cut short.
import { openSync, readdirSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Outcome } from "../../ports/store.ts";

export type Entry =
  /** About to commit these events, all or none. */
  | { readonly kind: "tried"; readonly ids: readonly string[] }
  | { readonly kind: "acknowledged"; readonly ids: readonly string[] }
  /** Rolled back on purpose, or because the store ran the work again: none of these may ever be seen. */
  | { readonly kind: "rolled back"; readonly ids: readonly string[] }
  /** The store said that nothing remains. */
  | { readonly kind: "refused"; readonly ids: readonly string[]; readonly code: string }
  | { readonly kind: "unknown"; readonly ids: readonly string[]; readonly transaction: string }
  | { readonly kind: "resolved"; readonly ids: readonly string[]; readonly outcome: Outcome }
  /** A subscriber's handler was called. */
  | { readonly kind: "handed"; readonly ids: readonly string[] };

export type Journal = (entry: Entry) => void;

export function openJournal(path: string): Journal {
  const descriptor = openSync(path, "a");
  return (entry) => {
    const line = Buffer.from(`${JSON.stringify(entry)}\n`);
    // One write per line: a second one could be cut off by the kill.
    if (writeSync(descriptor, line) !== line.length) throw new Error(`the journal ${path} was not written whole`);
  };
}

/** Everything that all children have sworn to so far. */
export function readJournals(folder: string): readonly Entry[] {
  return readdirSync(folder).flatMap((name) => {
    const lines = readFileSync(join(folder, name), "utf8").split("\n");
    // What follows the last line break is nothing, or a line that was cut short.
    return lines.slice(0, -1).map((line) => JSON.parse(line) as Entry);
  });
}

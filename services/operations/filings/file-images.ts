// Keeps submission files what they are: images of the records. A file is read whole when this process first touches it, and then only grown.
//
//  1. A line is in the file when `bring` resolves.
//  2. A torn or missing end, or a file that is not there, is made again byte for byte; what differs otherwise is told and never written to.
//  3. One file is brought on by one at a time.
import type { FilingFiles } from "../../../ports/filing-files.ts";
import type { FilingFile } from "../../../ports/filing-records.ts";
import type { Store } from "../../../ports/store.ts";
import { type OneAtATime, oneAtATime } from "../../reference/one-at-a-time.ts";

/** What became of it: the file is its records' image, or it holds something else. */
export type Brought = "IMAGE" | "CHANGED";

export interface FileImages {
  /** Brings a file up to its records. Rejects when it cannot be written or read. */
  bring(file: FilingFile, path: readonly string[]): Promise<Brought>;
  /** What it is, byte for byte from its beginning; nothing is written. */
  look(file: FilingFile, path: readonly string[]): Promise<Looked>;
  /** Gives a file that holds something else another name, and makes it again; undefined when it is its records' image already. */
  makeAgain(file: FilingFile, path: readonly string[], name: string): Promise<Brought | undefined>;
}

interface Looked {
  /** MISSING: there is no file although there are records; BEHIND: its end is torn or missing. */
  readonly state: "IMAGE" | "BEHIND" | "CHANGED" | "MISSING" | "NONE";
  readonly bytes: number;
  /** Of the first line that is not its record's. */
  readonly line?: number;
}

interface Known {
  readonly bytes: number;
  readonly lines: number;
}

/** Lines of one read; each has at most some thousand bytes. */
const portion = 500;
/** Files that are grown without being read again; the oldest gives way. */
const knownMax = 512;
const encoder = new TextEncoder();

export function createFileImages(store: Store, files: FilingFiles): FileImages {
  const known = new Map<string, Known>();
  const inTurn: OneAtATime = oneAtATime();

  const linesOf = (file: FilingFile, from: number): Promise<readonly string[]> =>
    store.transact("filings.look", (unit) => unit.filings.lines(file, from, portion), { isOneStatement: true });

  async function bring(file: FilingFile, path: readonly string[]): Promise<Brought> {
    const name = path.join("/");
    const size = (await files.size(path)) ?? 0;
    const before = known.get(name);
    let at: Known = before !== undefined && before.bytes === size ? before : { bytes: 0, lines: 0 };
    for (;;) {
      const lines = await linesOf(file, at.lines);
      if (lines.length === 0) break;
      const bytes = encoder.encode(lines.map((line) => `${line}\n`).join(""));
      const there = at.bytes >= size ? new Uint8Array() : await files.read(path, at.bytes, bytes.length);
      if (there.some((byte, index) => byte !== bytes[index])) return "CHANGED";
      if (there.length < bytes.length) {
        const wasAppended = await files.append(path, at.bytes + there.length, bytes.subarray(there.length));
        if (!wasAppended) return "CHANGED";
      }
      at = { bytes: at.bytes + bytes.length, lines: at.lines + lines.length };
      remember(name, at);
    }
    return at.bytes < size ? "CHANGED" : "IMAGE";
  }

  async function look(file: FilingFile, path: readonly string[]): Promise<Looked> {
    const size = await files.size(path);
    let [line, at] = [0, 0];
    for (;;) {
      const lines = await linesOf(file, line);
      if (lines.length === 0) break;
      if (size === undefined) return { state: "MISSING", bytes: 0, line: 0 };
      const parts = lines.map((text) => encoder.encode(`${text}\n`));
      const there = await files.read(path, at, lengthOf(parts));
      let from = 0;
      for (const bytes of parts) {
        const found = there.subarray(from, from + bytes.length);
        if (found.some((byte, index) => byte !== bytes[index])) return { state: "CHANGED", bytes: size, line };
        if (found.length < bytes.length) return { state: "BEHIND", bytes: size, line };
        [line, from] = [line + 1, from + bytes.length];
      }
      at += from;
    }
    if (size === undefined) return { state: "NONE", bytes: 0 };
    return at < size ? { state: "CHANGED", bytes: size, line } : { state: "IMAGE", bytes: size };
  }

  async function makeAgain(file: FilingFile, path: readonly string[], name: string): Promise<Brought | undefined> {
    const { state } = await look(file, path);
    if (state === "IMAGE" || state === "NONE") return undefined;
    if (state === "CHANGED" && !(await files.setAside(path, name))) return "CHANGED";
    known.delete(path.join("/"));
    return bring(file, path);
  }

  function remember(name: string, at: Known): void {
    known.delete(name);
    known.set(name, at);
    const [oldest] = known.keys();
    if (known.size > knownMax && oldest !== undefined) known.delete(oldest);
  }

  return {
    bring: (file, path) => inTurn(() => bring(file, path)),
    look: (file, path) => inTurn(() => look(file, path)),
    makeAgain: (file, path, name) => inTurn(() => makeAgain(file, path, name)),
  };
}

const lengthOf = (parts: readonly Uint8Array[]): number => parts.reduce((sum, { length }) => sum + length, 0);

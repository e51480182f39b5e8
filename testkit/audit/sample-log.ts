// A small audit log of fixed content for tests: entries, the tree over them, checkpoints and bundles. The same every time, so that golden files can
// be compared with it.
import { bundleHead, bundleSpans } from "../../core/audit/bundle/bundle.ts";
import { signCheckpoint } from "../../core/audit/checkpoint.ts";
import { type Entry, makeEntry } from "../../core/audit/entry.ts";
import { createFrontier } from "../../core/audit/frontier.ts";
import { makeGenesis } from "../../core/audit/genesis.ts";
import type { Hash } from "../../core/audit/hash.ts";
import { createTreeHash, type HashAt, spanHash } from "../../core/audit/merkle.ts";
import { consistencyProof, inclusionProof } from "../../core/audit/proof.ts";
import { logSigner, type Signer, sha256 } from "./keys.ts";

export const incarnation = "00000000-0000-4000-8000-000000000005";
export const origin = `portcullis/audit/${incarnation}`;
export const tree = createTreeHash(sha256);

/** What differs from entry to entry; the rest is fixed. */
export interface SampleChange {
  readonly action?: string;
  readonly subject_id?: string;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly timestamp?: string;
  readonly prev_hash?: string;
  readonly sequence?: number;
}

export interface SampleLog {
  readonly origin: string;
  readonly entries: Entry[];
  append(change?: SampleChange): Entry;
  root(size: number): Hash;
  hashAt: HashAt;
  checkpoint(size: number, signers?: readonly Signer[]): string;
  inclusion(index: number, size: number): Hash[];
  consistency(first: number, second: number): Hash[];
  bundle(range: BundleRange): string;
}

export interface BundleRange {
  readonly from: number;
  readonly entries: number;
  readonly size: number;
  readonly checkpoint?: string;
  readonly handovers?: readonly string[];
}

export const firstSigner = logSigner(origin, 1);
export const secondSigner = logSigner(origin, 2);
export const thirdSigner = logSigner(origin, 3);

export function sampleTimestamp(sequence: number): string {
  return `2026-11-15T09:30:${String(sequence % 60).padStart(2, "0")}.000000Z`;
}

/** A log of so many entries, entry 0 included. `name` ends up in every entry, so that logs of other names differ from there on. */
export function sampleLog(count: number, name = "sample", logOrigin: string = origin): SampleLog {
  const entries: Entry[] = [];
  const own = logSigner(logOrigin, 1);
  const log: SampleLog = {
    origin: logOrigin,
    entries,
    append(change = {}) {
      const sequence = entries.length;
      const prev = entries.at(-1);
      const entry = makeEntry(
        {
          sequence,
          timestamp: sampleTimestamp(sequence),
          actor: "service:oms",
          action: "order.decided",
          subject_id: `order-${sequence % 4}`,
          data: { name, note: "fünf ≠ 5 \u{1f600}", quantity: "12.50", step: sequence },
          prev_hash: prev?.hash ?? "",
          ...change,
        },
        sha256,
      );
      entries.push(entry);
      return entry;
    },
    hashAt: (level, index) => {
      const frontier = createFrontier(tree);
      const width = 2 ** level;
      for (const { leaf } of entries.slice(index * width, (index + 1) * width)) frontier.append(leaf);
      return frontier.root();
    },
    root: (size) => spanHash(tree, { start: 0, end: size }, log.hashAt),
    checkpoint: (size, signers = [own]) => signCheckpoint({ origin: logOrigin, size, root: log.root(size) }, signers),
    inclusion: (index, size) => inclusionProof(tree, index, size, log.hashAt),
    consistency: (first, second) => consistencyProof(tree, first, second, log.hashAt),
    bundle: ({ from, entries: wanted, size, checkpoint = log.checkpoint(size), handovers = [] }) => {
      const spans = bundleSpans(from, wanted, size);
      const left = spans.left.map(({ level, index }) => log.hashAt(level, index));
      const right = spans.right.map(({ level, index }) => log.hashAt(level, index));
      const head = bundleHead({ from, entries: wanted, checkpoint, handovers, left, right });
      return head + linesOf(entries.slice(from, from + wanted));
    },
  };
  const uuid = logOrigin.slice(-incarnation.length);
  const genesis = { origin: logOrigin, incarnation: uuid, keys: [own.key.vkey], timestamp: sampleTimestamp(0) };
  if (count > 0) entries.push(makeGenesis(genesis, sha256));
  while (entries.length < count) log.append();
  return log;
}

/** The entries as the lines of a bundle. */
export function linesOf(entries: readonly Entry[]): string {
  return entries.map(({ text }) => `${new TextDecoder().decode(text)}\n`).join("");
}

export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

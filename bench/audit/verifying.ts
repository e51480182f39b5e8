// How fast a log is verified: a bundle beside the hashing that its format makes necessary, and the database beside a plain read of the same rows.
//
// Necessary by the format are, for each entry: the SHA-256 of the hash before and the six fields (the link), the SHA-256 of a zero byte and the text
// (the leaf), and as many SHA-256 of 65 bytes as a tree over so many leaves has nodes. That is what the raw hashing does, on bytes that lie
// ready, and nothing else: no line is looked for, nothing is scanned, copied or compared.
import { hash } from "node:crypto";
import { type DatabaseAddress, openClient } from "../../adapters/postgres/connection.ts";
import { systemSha256OfBytes as sha256, systemSigning } from "../../adapters/system/signing.ts";
import { bundleHead } from "../../core/audit/bundle/bundle.ts";
import { signCheckpoint } from "../../core/audit/checkpoint.ts";
import { type Entry, makeEntry, withoutHashes } from "../../core/audit/entry.ts";
import { createFrontier } from "../../core/audit/frontier.ts";
import { makeGenesis } from "../../core/audit/genesis.ts";
import { createTreeHash } from "../../core/audit/merkle.ts";
import type { RunningAudit } from "../../services/operations/audit/audit-ports.ts";
import { logSigner } from "../../testkit/audit/keys.ts";
import { type BundleOptions, verifyBundleFile } from "../../testkit/audit/verify-bundle.ts";
import { quietLog } from "../bus/ticket.ts";
import { requestOf } from "./append-requests.ts";

const timestamp = "2026-11-15T09:30:00.123456Z";
const origin = "portcullis/audit/00000000-0000-4000-8000-000000000009";

export interface Hashing {
  /** Entries per second. */
  verify(): number;
  raw(): number;
}

/** A bundle of so many entries from 0 on, in memory. */
export function prepareBundle(count: number): Hashing {
  const signer = logSigner(origin, 9);
  const entries = entriesOf(count, signer.key.vkey);
  const tree = createTreeHash(sha256);
  const frontier = createFrontier(tree);
  for (const { leaf } of entries) frontier.append(leaf);
  const checkpoint = signCheckpoint({ origin, size: count, root: frontier.root() }, [signer]);
  const head = bundleHead({ from: 0, entries: count, checkpoint, handovers: [], left: [], right: [] });
  const lineFeed = Buffer.from("\n");
  const file = Buffer.concat([Buffer.from(head), ...entries.flatMap(({ text }) => [text, lineFeed])]);
  const options: BundleOptions = {
    trustedKeys: [signer.key],
    sha256,
    verifySignature: systemSigning().verify,
    nowUs: Date.now() * 1_000,
  };
  const links = entries.map(({ text }, n) => linkOf(text, entries[n - 1]?.hash ?? "0".repeat(64)));
  const leaves = entries.map(({ text }) => Buffer.concat([Buffer.of(0), text]));
  const node = Buffer.alloc(65, 1);
  return {
    verify() {
      const began = performance.now();
      const report = verifyBundleFile(file, options);
      const tookMs = performance.now() - began;
      if ("fault" in report) throw new Error(`the bundle does not verify: ${JSON.stringify(report.fault)}`);
      if (report.entries !== count || report.level !== "L1") throw new Error("the bundle was not verified whole");
      return (count * 1_000) / tookMs;
    },
    raw() {
      const began = performance.now();
      for (const link of links) hash("sha256", link, "binary");
      for (const leaf of leaves) hash("sha256", leaf, "binary");
      for (let nodes = 1; nodes < count; nodes += 1) hash("sha256", node, "binary");
      return (count * 1_000) / (performance.now() - began);
    },
  };
}

function entriesOf(count: number, vkey: string): Entry[] {
  const incarnation = origin.slice(-36);
  const entries = [makeGenesis({ origin, incarnation, keys: [vkey], timestamp }, sha256)];
  while (entries.length < count) {
    const sequence = entries.length;
    const { actor, action, subjectId, data } = requestOf(sequence);
    const prev_hash = entries.at(-1)?.hash ?? "";
    entries.push(makeEntry({ sequence, timestamp, actor, action, subject_id: subjectId, data, prev_hash }, sha256));
  }
  return entries;
}

function linkOf(text: Uint8Array, prevHash: string): Buffer {
  return Buffer.concat([Buffer.from(prevHash), withoutHashes(text) ?? Buffer.alloc(0)]);
}

export interface Reading {
  /** Entries per second. */
  verify(): Promise<number>;
  raw(): Promise<number>;
  close(): Promise<void>;
}

/** As many rows at a time as the verification reads. */
const pageRows = 1_000;

/** The last so many entries of a running log. */
export async function prepareReading(audit: RunningAudit, address: DatabaseAddress, count: number): Promise<Reading> {
  await audit.flush();
  const { size } = audit.status();
  const from = Math.max(0, size - count);
  const client = await openClient(address.app, { log: quietLog, applicationName: "bench audit read" });
  const text = "select sequence, text from audit_entry where sequence >= $1 order by sequence limit $2";
  return {
    async verify() {
      const began = performance.now();
      const verdict = await audit.verify(from);
      const tookMs = performance.now() - began;
      if ("fault" in verdict) throw new Error(`the log does not verify: ${JSON.stringify(verdict.fault)}`);
      if (verdict.entries !== size - from || verdict.level !== "L1") throw new Error("the log was not verified whole");
      return ((size - from) * 1_000) / tookMs;
    },
    async raw() {
      const began = performance.now();
      let bytes = 0;
      for (let next = from; next < size; ) {
        const { rows } = await client.query({ text, values: [next, Math.min(pageRows, size - next)] });
        for (const row of rows as { readonly text: Buffer }[]) bytes += row.text.length;
        if (rows.length === 0) throw new Error("there are fewer rows than entries");
        next += rows.length;
      }
      if (bytes === 0) throw new Error("nothing was read");
      return ((size - from) * 1_000) / (performance.now() - began);
    },
    close: () => client.end(),
  };
}

// A second, small writer of the audit format, for the verifier's tests only: it makes logs, keys, checkpoints, cosignatures, bundles and
// proofs from docs/audit-format.md, honest ones and forged ones. It follows the definitions literally and is slow on purpose.
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from "node:crypto";

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

export interface Fields {
  readonly action: string;
  readonly actor: string;
  readonly data: Json;
  readonly subject_id: string;
  readonly timestamp: string;
}

export interface Entry extends Fields {
  readonly sequence: number;
  readonly prev_hash: string;
  readonly hash: string;
}

export interface Signer {
  readonly vkey: string;
  readonly id: string;
  readonly name: string;
  /** The signature line for a note's text, without line end. */
  line(text: string): string;
}

/** What the tests need of the verifier, whose file has no types of its own. */
export interface Verdict {
  readonly verdict: "yes" | "no";
  readonly level?: string;
  readonly code?: string;
  readonly sequence?: number;
  readonly expected?: string;
  readonly actual?: string;
  readonly [field: string]: unknown;
}

export interface Trust {
  readonly vkeys?: readonly string[];
  readonly policy?: string;
  readonly origin?: string;
  /** Seconds since 1970, instead of the clock's. */
  readonly nowS?: number;
  /** The checkpoint that was kept, and the later one, for a proof of consistency. */
  readonly first?: string;
  readonly second?: string;
}

export interface Verifier {
  verifyBytes(bytes: Uint8Array, options?: Trust): Promise<Verdict>;
  verifyFile(path: string, options?: Trust): Promise<Verdict>;
}

export const incarnation = "0199a4c2-7f00-7000-8000-00000000c0de";
export const origin = `portcullis/audit/${incarnation}`;

/** What a verifier takes for the present: the cosignatures of these logs are a little older. */
export const nowS = 1_794_735_000;

export const sha256 = (...parts: readonly (string | Uint8Array)[]): Buffer => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest();
};

/** RFC 8785 for what the format allows: sorted members, and JSON's own strings, which are the canonical ones. */
export function canonical(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value as Record<string, Json>).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(",")}}`;
}

export function hashOf(entry: Omit<Entry, "hash">): string {
  const { action, actor, data, sequence, subject_id, timestamp } = entry;
  return sha256(entry.prev_hash, canonical({ action, actor, data, sequence, subject_id, timestamp })).toString("hex");
}

export const textOf = (entry: Entry): string => canonical({ ...entry });

/** Numbers, links and hashes the entries from 0, or from where an earlier part ended. */
export function chain(fields: readonly Fields[], after?: Entry): readonly Entry[] {
  const entries: Entry[] = [];
  for (const { action, actor, data, subject_id, timestamp } of fields) {
    const before = entries.at(-1) ?? after;
    const sequence = before === undefined ? 0 : before.sequence + 1;
    const prev_hash = before?.hash ?? "0".repeat(64);
    const open = { action, actor, data, prev_hash, sequence, subject_id, timestamp };
    entries.push({ ...open, hash: hashOf(open) });
  }
  return entries;
}

export function genesis(key: Signer, of = origin, id = incarnation): Fields {
  return {
    action: "chain.genesis",
    actor: "service:operations",
    data: {
      canonicalization: "rfc8785",
      format: "portcullis-audit/v1",
      hash: "sha-256",
      incarnation: id,
      keys: [key.vkey],
      origin: of,
    },
    subject_id: of,
    timestamp: "2026-11-15T09:30:00.000000Z",
  };
}

export const timeAt = (n: number): string =>
  `2026-11-15T${String(10 + Math.floor(n / 3600)).padStart(2, "0")}:${String(Math.floor(n / 60) % 60).padStart(2, "0")}:${String(n % 60).padStart(2, "0")}.000${String(n % 1000).padStart(3, "0")}Z`;

/** Entry number n of an ordinary log; the texts touch every kind of value and of character. */
export function ordinary(n: number): Fields {
  const odd = ["plain", 'a "quoted" \\ one', "tab\tand\u0001control\u007f", "é ‰ 漢 😀", "\ue000 \uffff"][n % 5] ?? "";
  return {
    action: n % 3 === 0 ? "halt.requested" : "order.decided",
    actor: n % 4 === 0 ? "operator:ada" : "service:riskengine",
    data: {
      approved: n % 2 === 0,
      fund_id: "alpha",
      list: [n, -n - 1, null, [], {}, Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER, 0],
      note: odd,
      order: { limit_price: "101.25", quantity: String(n * 100), "\ue000": 1, "😀": 2, é: true, "\n": false, a: 0 },
    },
    subject_id: `order-${n % 7}`,
    timestamp: timeAt(n),
  };
}

export function log(count: number, key: Signer): readonly Entry[] {
  return chain([genesis(key), ...Array.from({ length: count - 1 }, (_, i) => ordinary(i + 1))]);
}

// ---- the tree, by the recursive definitions of RFC 6962

export const leafHash = (text: string): Buffer => sha256(Buffer.from([0]), text);
export const nodeHash = (left: Uint8Array, right: Uint8Array): Buffer => sha256(Buffer.from([1]), left, right);

function split(size: number): number {
  let power = 1;
  while (power * 2 < size) power *= 2;
  return power;
}

export function rootOf(leaves: readonly Buffer[]): Buffer {
  const [only] = leaves;
  if (only === undefined) return sha256("");
  if (leaves.length === 1) return only;
  const middle = split(leaves.length);
  return nodeHash(rootOf(leaves.slice(0, middle)), rootOf(leaves.slice(middle)));
}

export function pathOf(index: number, leaves: readonly Buffer[]): readonly Buffer[] {
  if (leaves.length <= 1) return [];
  const middle = split(leaves.length);
  const [left, right] = [leaves.slice(0, middle), leaves.slice(middle)];
  return index < middle ? [...pathOf(index, left), rootOf(right)] : [...pathOf(index - middle, right), rootOf(left)];
}

/** The proof that the first `size` leaves are the beginning of all of them, by the recursive definition of RFC 6962. */
export function consistencyOf(size: number, leaves: readonly Buffer[], isWhole = true): readonly Buffer[] {
  if (size === 0 || (size === leaves.length && isWhole)) return [];
  if (size === leaves.length) return [rootOf(leaves)];
  const middle = split(leaves.length);
  const [left, right] = [leaves.slice(0, middle), leaves.slice(middle)];
  return size <= middle
    ? [...consistencyOf(size, left, isWhole), rootOf(right)]
    : [...consistencyOf(size - middle, right, false), rootOf(left)];
}

/** The perfect subtrees of [start, end), as the format page describes left and right. */
export function subtrees(start: number, end: number, leaves: readonly Buffer[]): readonly string[] {
  const hashes: string[] = [];
  let place = start;
  while (place < end) {
    let size = 1;
    while (place % (2 * size) === 0 && place + 2 * size <= end) size *= 2;
    hashes.push(rootOf(leaves.slice(place, place + size)).toString("base64"));
    place += size;
  }
  return hashes;
}

export const leavesOf = (entries: readonly Entry[]): readonly Buffer[] =>
  entries.map((entry) => leafHash(textOf(entry)));

// ---- keys and notes

function ed25519(seed: string): { key: KeyObject; raw: Buffer } {
  const der = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), sha256(seed)]);
  const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  return { key, raw: createPublicKey(key).export({ format: "der", type: "spki" }).subarray(-32) };
}

function vkeyOf(name: string, type: number, raw: Uint8Array): { vkey: string; id: Buffer } {
  const typed = Buffer.concat([Buffer.from([type]), raw]);
  const id = sha256(`${name}\n`, typed).subarray(0, 4);
  return { vkey: `${name}+${id.toString("hex")}+${typed.toString("base64")}`, id };
}

export function logKey(seed: string, name = origin): Signer {
  const { key, raw } = ed25519(seed);
  const { vkey, id } = vkeyOf(name, 1, raw);
  const line = (text: string): string =>
    `— ${name} ${Buffer.concat([id, sign(null, Buffer.from(text), key)]).toString("base64")}`;
  return { vkey, id: id.toString("hex"), name, line };
}

export function witnessKey(seed: string, name: string, time = 1_700_000_000n): Signer {
  const { key, raw } = ed25519(seed);
  const { vkey, id } = vkeyOf(name, 4, raw);
  const line = (text: string): string => {
    const stamp = Buffer.alloc(8);
    stamp.writeBigUInt64BE(time);
    const signature = sign(null, Buffer.from(`cosignature/v1\ntime ${time}\n${text}`), key);
    return `— ${name} ${Buffer.concat([id, stamp, signature]).toString("base64")}`;
  };
  return { vkey, id: id.toString("hex"), name, line };
}

export const noteOf = (text: string, signers: readonly Signer[]): string =>
  `${text}\n${signers.map((signer) => `${signer.line(text)}\n`).join("")}`;

export function checkpointOf(entries: readonly Entry[], size: number, signers: readonly Signer[], of = origin): string {
  return noteOf(`${of}\n${size}\n${rootOf(leavesOf(entries).slice(0, size)).toString("base64")}\n`, signers);
}

// ---- bundles and proofs

export interface Header {
  readonly checkpoint: Json;
  readonly entries: Json;
  readonly from: Json;
  readonly handovers: Json;
  readonly left: Json;
  readonly right: Json;
}

/** A bundle of [from, to) of these entries under a checkpoint of this size; the header can be bent. */
export function bundle(
  entries: readonly Entry[],
  checkpoint: string,
  bend: { from?: number; to?: number; size?: number; handovers?: readonly string[]; header?: Partial<Header> } = {},
): Buffer {
  const { from = 0, to = entries.length, size = entries.length, handovers = [] } = bend;
  const leaves = leavesOf(entries);
  const header = {
    checkpoint,
    entries: to - from,
    from,
    handovers,
    left: subtrees(0, from, leaves),
    right: subtrees(to, size, leaves),
    ...bend.header,
  };
  return fileOf(canonical(header), entries.slice(from, to).map(textOf));
}

export const fileOf = (header: string, lines: readonly (string | Uint8Array)[]): Buffer =>
  Buffer.concat(
    ["portcullis-audit-bundle/v1", header, ...lines].flatMap((line) => [Buffer.from(line), Buffer.from("\n")]),
  );

export interface ProofParts {
  readonly extra?: string | Uint8Array | null;
  /** The line extra as it stands. */
  readonly raw?: string;
  readonly index?: string | number;
  readonly path?: readonly string[];
  readonly checkpoint?: string;
  readonly first?: string;
}

export function proof(entries: readonly Entry[], index: number, checkpoint: string, bend: ProofParts = {}): Buffer {
  const entry = entries[index];
  if (entry === undefined) throw new Error(`no entry ${index}`);
  const path = bend.path ?? pathOf(index, leavesOf(entries)).map((hash) => hash.toString("base64"));
  const extra = bend.extra === undefined ? textOf(entry) : bend.extra;
  return Buffer.from(
    [
      bend.first ?? "c2sp.org/tlog-proof@v1",
      ...(extra === null ? [] : [bend.raw ?? `extra ${Buffer.from(extra).toString("base64")}`]),
      `index ${bend.index ?? index}`,
      ...path,
      "",
      bend.checkpoint ?? checkpoint,
    ].join("\n"),
  );
}

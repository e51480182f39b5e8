// The proof of one entry as a file of its own (C2SP tlog-proof): the entry, its place, the hashes up to the root, and the checkpoint. Whoever has
// the log's public key needs nothing else.
import { base64OfHash, decodeBase64, encodeBase64, hashOfBase64, readDecimal } from "./base64.ts";
import { createChainCheck } from "./chain-check.ts";
import { readCheckpointNote } from "./checkpoint.ts";
import { type Refused, refused } from "./fault.ts";
import type { Hash, Sha256OfBytes } from "./hash.ts";
import { keyChangeOf, originAsked, takeTrust } from "./key-entry.ts";
import { type KeyRing, startKeyRing } from "./key-ring.ts";
import { createTreeHash } from "./merkle.ts";
import type { Policy } from "./policy.ts";
import { verifyInclusion } from "./proof.ts";
import { type Malformed, noteLengthMax, type VerifierKey, type VerifySignature } from "./signed-note.ts";
import { judgeCheckpoint, type TrustedCheckpoint } from "./trusted-checkpoint.ts";

const firstLine = "c2sp.org/tlog-proof@v1";
/** The most hashes that lead from a leaf to a root. */
const inclusionHashesMax = 63;
/** Of the whole file: an entry of the largest size in base64, the hashes and the largest note fit. */
const proofLengthMax = noteLengthMax + 131_072;

export interface TlogProof {
  /** The text of the entry; the file may leave it out. */
  readonly entry?: Uint8Array | undefined;
  readonly index: number;
  readonly hashes: readonly Hash[];
  /** The checkpoint's note as it stands in the file. */
  readonly note: string;
}

export interface TlogProofOptions {
  /** Either the keys, or the ring of whoever has followed the log's rotations. Without any, the level is L0. */
  readonly trustedKeys?: readonly VerifierKey[];
  readonly keyRing?: KeyRing | undefined;
  readonly policy?: Policy | undefined;
  /** The log that it must be of; if absent, that of the keys, and without keys that of the checkpoint. */
  readonly origin?: string | undefined;
  /** The text of the entry, for a file without it; a file with another one is refused. */
  readonly entry?: Uint8Array;
  readonly sha256: Sha256OfBytes;
  readonly verifySignature: VerifySignature;
  /** Microseconds since 1970. */
  readonly nowUs: number;
  readonly aheadSMax?: number | undefined;
}

interface TlogProofReport extends TrustedCheckpoint {
  readonly origin: string;
  readonly size: number;
  readonly index: number;
  readonly hash: string;
  readonly entry: Uint8Array;
}

export function writeTlogProof({ entry, index, hashes, note }: TlogProof): string {
  const extra = entry === undefined ? "" : `extra ${encodeBase64(entry)}\n`;
  return `${firstLine}\n${extra}index ${index}\n${hashes.map((hash) => `${base64OfHash(hash)}\n`).join("")}\n${note}`;
}

/** Parts the file; nothing is verified yet. */
export function readTlogProof(content: string): TlogProof | Malformed {
  if (content.length > proofLengthMax) return { malformed: "the file is too long" };
  const split = content.indexOf("\n\n");
  if (split < 0) return { malformed: "no empty line before the checkpoint" };
  const [first, ...lines] = content.slice(0, split).split("\n");
  if (first !== firstLine) return { malformed: `the first line is not ${firstLine}` };
  let entry: Uint8Array | undefined;
  if (lines[0]?.startsWith("extra ")) {
    entry = decodeBase64(lines.shift()?.slice("extra ".length) ?? "");
    if (entry === undefined) return { malformed: "the extra line is not base64" };
  }
  const indexLine = lines.shift() ?? "";
  const index = indexLine.startsWith("index ") ? readDecimal(indexLine.slice("index ".length)) : undefined;
  if (index === undefined) return { malformed: "no line with the index" };
  if (lines.length > inclusionHashesMax) return { malformed: `more than ${inclusionHashesMax} hashes` };
  const hashes: Hash[] = [];
  for (const line of lines) {
    const hash = hashOfBase64(line);
    if (hash === undefined) return { malformed: "a line that is not a hash" };
    hashes.push(hash);
  }
  return { entry, index, hashes, note: content.slice(split + 2) };
}

/** Whether the entry is in the log: whose checkpoint it is, what the entry says of itself, who signed, and the way up to the root. */
export function verifyTlogProof(content: string, options: TlogProofOptions): TlogProofReport | Refused {
  const proof = readTlogProof(content);
  if ("malformed" in proof) return refused("PROOF_INVALID", 0, "a tlog-proof", proof.malformed);
  const { index, hashes, note } = proof;
  const signed = readCheckpointNote(note);
  if ("malformed" in signed) return refused("CHECKPOINT_MALFORMED", 0, "a checkpoint", signed.malformed);
  const { size, root } = signed.checkpoint;
  const trustedRing = options.keyRing ?? startKeyRing(options.trustedKeys ?? []);
  const origin = originAsked(options.origin, trustedRing, signed.checkpoint.origin);
  if (signed.checkpoint.origin !== origin) {
    return refused("CHECKPOINT_MALFORMED", size, origin, signed.checkpoint.origin);
  }
  const entry = options.entry ?? proof.entry;
  if (entry === undefined) return refused("PROOF_INVALID", index, "the text of the entry", "none");
  if (proof.entry !== undefined && encodeBase64(proof.entry) !== encodeBase64(entry)) {
    return refused("PROOF_INVALID", index, "the entry that was asked for", "another one");
  }
  const { sha256, policy, verifySignature, nowUs, aheadSMax } = options;
  const chain = createChainCheck({ sha256, from: index, origin });
  const broken = chain.next(entry);
  if (broken !== undefined) return { fault: broken };
  const change = keyChangeOf(entry, index, origin, sha256);
  if (change !== undefined && "fault" in change) return change;
  // The entry may take trust from the very key that signed.
  const ring = change === undefined ? trustedRing : takeTrust(trustedRing, change);
  const trusted = judgeCheckpoint(signed, undefined, { ring, origin, policy, verifySignature, nowUs, aheadSMax });
  if ("fault" in trusted) return trusted;
  const tree = createTreeHash(sha256);
  if (!verifyInclusion(tree, { leaf: tree.leaf(entry), index, size, root, proof: hashes })) {
    return refused("PROOF_INVALID", index, `a way to the root ${base64OfHash(root)}`, "hashes that lead elsewhere");
  }
  return { ...trusted, origin, size, index, hash: chain.hash ?? "", entry };
}

// Verifies a bundle line by line: the chain, the tree and the checkpoint, each against the others. It holds one line at a time, whatever the size of
// the file.
//
// Invariants:
//  1. Every entry is a link of the chain and a leaf of the tree; neither stands in for the other.
//  2. A key that was not given is trusted only when the tree at its handover is the one that was read.
//  3. What comes after the checkpoint's size is counted as unanchored: it can take trust from a key, and give it to none.
//  4. The first fault is the answer, now and for whatever comes after.
import { base64OfHash } from "../../core/audit/base64.ts";
import {
  type BundleHeader,
  bundleFirstLine,
  isBundleFirstLine,
  readBundleHeader,
} from "../../core/audit/bundle/bundle.ts";
import { textBytesMax } from "../../core/audit/canonical/canonical-json.ts";
import { type ChainCheck, createChainCheck } from "../../core/audit/chain-check.ts";
import type { CheckpointNote } from "../../core/audit/checkpoint.ts";
import { type Refused, refused } from "../../core/audit/fault.ts";
import { closeWithRight, createFrontier, type Frontier } from "../../core/audit/frontier.ts";
import type { Hash, Sha256OfBytes } from "../../core/audit/hash.ts";
import { keyChangeOf, originAsked, takeTrust } from "../../core/audit/key-entry.ts";
import { type KeyRing, type KeyRotation, rotateKey, startKeyRing } from "../../core/audit/key-ring.ts";
import { createTreeHash, type TreeHash } from "../../core/audit/merkle.ts";
import type { Policy } from "../../core/audit/policy.ts";
import { openNote, type VerifierKey, type VerifySignature } from "../../core/audit/signed-note.ts";
import { judgeCheckpoint, type TrustedCheckpoint } from "../../core/audit/trusted-checkpoint.ts";

export interface BundleOptions {
  /** Without any the level is L0: the checkpoint is compared, and believed no further. */
  readonly trustedKeys: readonly VerifierKey[];
  /** Instead of the keys: the ring of whoever has followed the log's rotations up to where this bundle begins. */
  readonly keyRing?: KeyRing | undefined;
  readonly policy?: Policy | undefined;
  /** The log that it must be of; if absent, that of the keys, and without keys that of the checkpoint. */
  readonly origin?: string | undefined;
  readonly sha256: Sha256OfBytes;
  readonly verifySignature: VerifySignature;
  /** Microseconds since 1970, for cosignatures from the future. */
  readonly nowUs: number;
  readonly aheadSMax?: number | undefined;
}

export interface BundleReport extends TrustedCheckpoint {
  readonly origin: string;
  readonly from: number;
  readonly entries: number;
  /** Of the checkpoint. */
  readonly size: number;
  readonly root: Hash;
  /** How many of the entries come after the checkpoint. */
  readonly unanchoredTail: number;
  /** In hex; undefined in a bundle without entries. */
  readonly firstHash: string | undefined;
  readonly lastHash: string | undefined;
  /** The keys that the log is under after everything that was read: what the next bundle may be verified with. */
  readonly keyRing: KeyRing;
}

export interface BundleVerifier {
  /** One line without its line feed. Answers the fault as soon as there is one. */
  line(line: Uint8Array): Refused | undefined;
  /** `rest` is what came after the last line feed. */
  end(rest?: Uint8Array): BundleReport | Refused;
}

/** Verifies a bundle of which the lines are at hand, each without its line feed. */
export function verifyBundle(lines: Iterable<Uint8Array>, options: BundleOptions): BundleReport | Refused {
  const verifier = createBundleVerifier(options);
  for (const line of lines) {
    const fault = verifier.line(line);
    if (fault !== undefined) return fault;
  }
  return verifier.end();
}

/** Verifies a bundle as a file. */
export function verifyBundleFile(bytes: Uint8Array, options: BundleOptions): BundleReport | Refused {
  const verifier = createBundleVerifier(options);
  let start = 0;
  for (let end = bytes.indexOf(0x0a); end >= 0; end = bytes.indexOf(0x0a, start)) {
    const fault = verifier.line(bytes.subarray(start, end));
    if (fault !== undefined) return fault;
    start = end + 1;
  }
  return verifier.end(bytes.subarray(start));
}

/** Verifies a bundle whose lines come one after another. */
export function createBundleVerifier(options: BundleOptions): BundleVerifier {
  let lineNumber = 0;
  let body: Body | undefined;
  let found: Refused | undefined;

  function look(line: Uint8Array): Refused | undefined {
    if (lineNumber === 0) {
      return isBundleFirstLine(line) ? undefined : notABundle(bundleFirstLine, "another first line");
    }
    if (body !== undefined) return nextEntry(body, line);
    const header = readBundleHeader(line);
    if ("fault" in header) return header;
    const begun = beginBody(header, options);
    if ("fault" in begun) return begun;
    body = begun;
    return undefined;
  }

  return {
    line(line) {
      if (found !== undefined) return found;
      found = look(line);
      lineNumber += 1;
      return found;
    },
    end(rest = new Uint8Array(0)) {
      if (found !== undefined) return found;
      if (body === undefined) return notABundle("a first line and a header", `${lineNumber} lines`);
      const { entries, from } = body.header;
      const count = body.chain.sequence - from;
      if (count < entries) {
        // A line that is too long has ended already, whether its end is there or not.
        if (rest.length > textBytesMax) {
          const expected = `an entry of at most ${textBytesMax} bytes`;
          return refused("ENTRY_MALFORMED", body.chain.sequence, expected, `${rest.length} without an end`);
        }
        return refused("TRUNCATED", body.chain.sequence, `${entries} entries from ${from} on`, `${count} whole ones`);
      }
      if (rest.length > 0) return notABundle("the end after the last entry", `${rest.length} more bytes`);
      return closeBody(body);
    },
  };
}

interface Body {
  readonly header: BundleHeader;
  readonly options: BundleOptions;
  readonly origin: string;
  readonly tree: TreeHash;
  readonly chain: ChainCheck;
  readonly frontier: Frontier;
  ring: KeyRing;
  /** How many of the handovers were used. */
  handovers: number;
  firstHash: string | undefined;
}

function beginBody(header: BundleHeader, options: BundleOptions): Body | Refused {
  const { checkpoint } = header.signed;
  const ring = options.keyRing ?? startKeyRing(options.trustedKeys);
  const origin = originAsked(options.origin, ring, checkpoint.origin);
  for (const { checkpoint: each } of [header.signed, ...header.handovers]) {
    if (each.origin !== origin) return refused("CHECKPOINT_MALFORMED", each.size, origin, each.origin);
  }
  const { sha256 } = options;
  const tree = createTreeHash(sha256);
  return {
    header,
    options,
    origin,
    tree,
    chain: createChainCheck({ sha256, from: header.from, origin }),
    frontier: createFrontier(tree, { size: header.from, hashes: header.left }),
    ring,
    handovers: 0,
    firstHash: undefined,
  };
}

function nextEntry(body: Body, text: Uint8Array): Refused | undefined {
  const { header, chain, frontier, tree } = body;
  const { sequence } = chain;
  if (sequence === header.from + header.entries) return notABundle(`${header.entries} entries`, "another line");
  const broken = chain.next(text);
  if (broken !== undefined) return { fault: broken };
  if (sequence === header.from) body.firstHash = chain.hash;
  const { size } = header.signed.checkpoint;
  if (sequence < size) frontier.append(tree.leaf(text));
  const change = keyChangeOf(text, sequence, body.origin, body.options.sha256);
  if (change !== undefined && "fault" in change) return change;
  const listed = header.handovers[body.handovers];
  const isListed = listed?.checkpoint.size === sequence + 1;
  if (change?.kind === "rotated" && sequence < size) {
    // The checkpoint of that size is a handover like any other.
    const due = isListed ? listed : size === sequence + 1 ? header.signed : undefined;
    const fault = handOver(body, change, due);
    if (fault !== undefined) return fault;
    if (isListed) body.handovers += 1;
    return undefined;
  }
  if (change !== undefined) body.ring = takeTrust(body.ring, change);
  return isListed
    ? refused("HANDOVER_INVALID", sequence, "a rotation before its handover", "another entry")
    : undefined;
}

function handOver(body: Body, change: KeyRotation, handover: CheckpointNote | undefined): Refused | undefined {
  const { sequence } = change;
  if (handover === undefined) {
    return refused("HANDOVER_INVALID", sequence, `the handover of size ${sequence + 1}`, "none");
  }
  const fault = judgeHandover(body, change, handover);
  if (fault === undefined) body.ring = rotateKey(body.ring, change);
  return fault;
}

/** A handover is the checkpoint that ends with the rotation, of the tree that was read so far, signed by both keys. */
function judgeHandover(
  body: Body,
  { sequence, oldKey, newKey }: KeyRotation,
  handover: CheckpointNote,
): Refused | undefined {
  const { note, checkpoint } = handover;
  const opened = openNote(note, [oldKey, newKey], body.options.verifySignature);
  if (opened.kind === "bad signature") {
    return refused("SIGNATURE_INVALID", sequence + 1, `a valid signature of ${opened.by}`, "one that does not verify");
  }
  const signedBy = opened.kind === "opened" ? opened.signedBy : [];
  if (signedBy.length !== 2) {
    const actual = signedBy.map((key) => key.id).join(", ");
    return refused("HANDOVER_INVALID", sequence, `signatures of ${oldKey.id} and ${newKey.id}`, actual);
  }
  const root = body.frontier.root();
  if (checkpoint.root === root) return undefined;
  return refused("ROOT_MISMATCH", checkpoint.size, base64OfHash(checkpoint.root), base64OfHash(root));
}

function closeBody(body: Body): BundleReport | Refused {
  const { header, options, origin, ring, chain, frontier } = body;
  const { from, entries, signed, right } = header;
  const { size } = signed.checkpoint;
  const root = closeWithRight(frontier, right, size);
  if (root === undefined) return notABundle("as many hashes as the numbers say", "others");
  const { policy, verifySignature, nowUs, aheadSMax } = options;
  const trusted = judgeCheckpoint(signed, root, { ring, origin, policy, verifySignature, nowUs, aheadSMax });
  if ("fault" in trusted) return trusted;
  // A checkpoint that covers none of the entries shown vouches for none of them.
  const level = entries > 0 && from >= size ? "L0" : trusted.level;
  return {
    ...trusted,
    level,
    origin,
    from,
    entries,
    size,
    root,
    unanchoredTail: Math.max(0, from + entries - size),
    firstHash: body.firstHash,
    lastHash: entries === 0 ? undefined : chain.hash,
    keyRing: ring,
  };
}

function notABundle(expected: string, actual: string): Refused {
  return refused("BUNDLE_MALFORMED", 0, expected, actual);
}

// A28: keys that come and go, as a ring and in bundles.
import { describe, expect, it } from "vitest";
import { logSigner, type Signer, sha256, verifySignature, witnessSigner } from "../../testkit/audit/keys.ts";
import {
  bytesOf,
  firstSigner as k1,
  secondSigner as k2,
  thirdSigner as k3,
  origin,
  type SampleLog,
  sampleLog,
} from "../../testkit/audit/sample-log.ts";
import { type BundleReport, verifyBundleFile } from "../../testkit/audit/verify-bundle.ts";
import { keysInForce, readKeyChange, revokeKey, rotateKey, startKeyRing } from "./key-ring.ts";
import type { VerifierKey } from "./signed-note.ts";

const options = { sha256, verifySignature, nowUs: 1_794_735_000_000_000 };
const idsAt = (ring: ReturnType<typeof startKeyRing>, size: number) => keysInForce(ring, size).map((key) => key.id);
const rotated = (sequence: number, oldKey: VerifierKey, newKey: VerifierKey) =>
  ({ kind: "rotated", sequence, oldKey, newKey }) as const;
const revoked = (sequence: number, key: VerifierKey, trustedSize: number) =>
  ({ kind: "revoked", sequence, key, trustedSize }) as const;

describe("the ring", () => {
  it("a rotation at s: up to size s + 1 the old key, from there on the new one", () => {
    const ring = rotateKey(startKeyRing([k1.key]), rotated(9, k1.key, k2.key));
    expect(idsAt(ring, 0)).toEqual([k1.key.id]);
    expect(idsAt(ring, 9)).toEqual([k1.key.id]);
    expect(idsAt(ring, 10)).toEqual([k1.key.id, k2.key.id]);
    expect(idsAt(ring, 11)).toEqual([k2.key.id]);
  });

  it("a rotation between keys that nobody trusts gives no trust", () => {
    const ring = rotateKey(startKeyRing([k1.key]), rotated(9, k2.key, k3.key));
    expect(idsAt(ring, 11)).toEqual([k1.key.id]);
  });

  it("a retired key can hand nothing over any more, and never comes back", () => {
    let ring = rotateKey(startKeyRing([k1.key]), rotated(9, k1.key, k2.key));
    expect(idsAt(rotateKey(ring, rotated(15, k1.key, k3.key)), 17)).toEqual([k2.key.id]);
    ring = rotateKey(ring, rotated(20, k2.key, k1.key));
    expect(idsAt(ring, 22)).toEqual([]);
  });

  it("who trusts the new key alone does not thereby trust the old one", () => {
    const ring = rotateKey(startKeyRing([k2.key]), rotated(9, k1.key, k2.key));
    expect(idsAt(ring, 9)).toEqual([]);
    expect(idsAt(ring, 10)).toEqual([k2.key.id]);
  });

  it("a revocation ends a key, and takes back what was trusted through it beyond the trusted size", () => {
    let ring = rotateKey(startKeyRing([k1.key]), rotated(9, k1.key, k2.key));
    ring = rotateKey(ring, rotated(19, k2.key, k3.key));
    expect(idsAt(revokeKey(ring, revoked(25, k1.key, 10)), 30)).toEqual([k3.key.id]);
    expect(idsAt(revokeKey(ring, revoked(25, k1.key, 9)), 30)).toEqual([]);
    expect(idsAt(revokeKey(ring, revoked(25, k2.key, 15)), 30)).toEqual([]);
    expect(idsAt(revokeKey(ring, revoked(25, k2.key, 15)), 15)).toEqual([k2.key.id]);
    expect(idsAt(revokeKey(ring, revoked(25, k3.key, 24)), 24)).toEqual([k3.key.id]);
    expect(idsAt(revokeKey(ring, revoked(25, k3.key, 24)), 25)).toEqual([]);
  });

  it("a second revocation never widens the first", () => {
    const ring = revokeKey(revokeKey(startKeyRing([k1.key]), revoked(5, k1.key, 3)), revoked(6, k1.key, 100));
    expect(idsAt(ring, 4)).toEqual([]);
  });
});

describe("an entry that changes keys", () => {
  const read = (action: string, subjectId: string, data: unknown) =>
    readKeyChange({ action, sequence: 9, subjectId, data }, origin, sha256);
  const foreign = logSigner("another.log", 2);
  const witness = witnessSigner(origin, 2);
  const good = { new_key: k2.key.vkey, old_key: k1.key.vkey };

  it("is read as what it says", () => {
    expect(read("key.rotated", k2.key.id, good)).toEqual(rotated(9, k1.key, k2.key));
    expect(read("key.revoked", k1.key.id, { key: k1.key.vkey, trusted_size: 4 })).toEqual(revoked(9, k1.key, 4));
    expect(read("key.rested", k1.key.id, {})).toBeUndefined();
  });

  it.each([
    ["key.rotated", k1.key.id, good],
    ["key.rotated", k2.key.id, {}],
    ["key.rotated", k2.key.id, null],
    ["key.rotated", k2.key.id, { ...good, more: 1 }],
    ["key.rotated", k1.key.id, { new_key: k1.key.vkey, old_key: k1.key.vkey }],
    ["key.rotated", k2.key.id, { ...good, new_key: k2.key.vkey.replace("+A", "+B") }],
    ["key.rotated", foreign.key.id, { ...good, new_key: foreign.key.vkey }],
    ["key.rotated", witness.key.id, { ...good, new_key: witness.key.vkey }],
    ["key.revoked", foreign.key.id, { key: foreign.key.vkey, trusted_size: 4 }],
    ["key.revoked", k2.key.id, { key: k1.key.vkey, trusted_size: 4 }],
    ["key.revoked", k1.key.id, { key: k1.key.vkey, trusted_size: -1 }],
    ["key.revoked", k1.key.id, { key: k1.key.vkey, trusted_size: 1.5 }],
    ["key.revoked", k1.key.id, { key: k1.key.vkey, trusted_size: "4" }],
    ["key.revoked", k1.key.id, { key: k1.key.vkey }],
  ])("%s of %s with %j is none", (action, subjectId, data) => {
    expect(read(action, subjectId, data)).toHaveProperty("malformed");
  });
});

function rotate(log: SampleLog, oldKey: Signer, newKey: Signer): void {
  const data = { new_key: newKey.key.vkey, old_key: oldKey.key.vkey };
  log.append({ action: "key.rotated", subject_id: newKey.key.id, data });
}

function revoke(log: SampleLog, key: Signer, trustedSize: number): void {
  log.append({ action: "key.revoked", subject_id: key.key.id, data: { key: key.key.vkey, trusted_size: trustedSize } });
}

/** Entries 0 to 5 under the first key, the rotation at 6, 7 to 9 under the second. */
function rotatedLog(): SampleLog {
  const log = sampleLog(6);
  rotate(log, k1, k2);
  for (let more = 0; more < 3; more += 1) log.append();
  return log;
}

function verdictOf(bundle: string, ...trusted: Signer[]): string {
  const verdict = verifyBundleFile(bytesOf(bundle), { ...options, trustedKeys: trusted.map(({ key }) => key) });
  return "fault" in verdict ? `${verdict.fault.code} ${verdict.fault.sequence}` : verdict.level;
}

describe("A28: a bundle over a rotation", () => {
  const log = rotatedLog();
  const handover = log.checkpoint(7, [k1, k2]);
  const whole = (checkpoint: string, handovers: readonly string[] = [handover]) =>
    log.bundle({ from: 0, entries: 10, size: 10, checkpoint, handovers });
  const head = log.checkpoint(10, [k2]);

  it("verifies for who trusts the first key, and for who trusts the second", () => {
    expect(verdictOf(whole(head), k1)).toBe("L1");
    expect(verdictOf(whole(head), k2)).toBe("L1");
    expect(verdictOf(log.bundle({ from: 5, entries: 3, size: 10, checkpoint: head, handovers: [handover] }), k1)).toBe(
      "L1",
    );
  });

  it("says which keys the next bundle may be verified with", () => {
    const report = verifyBundleFile(bytesOf(whole(head)), { ...options, trustedKeys: [k1.key] }) as BundleReport;
    const later = log.bundle({ from: 8, entries: 2, size: 10, checkpoint: head });
    expect(verdictOf(later, k1)).toBe("SIGNATURE_INVALID 10");
    const verdict = verifyBundleFile(bytesOf(later), { ...options, trustedKeys: [], keyRing: report.keyRing });
    expect(verdict).toMatchObject({ level: "L1" });
  });

  it("the old key signs nothing larger", () => {
    expect(verdictOf(whole(log.checkpoint(10, [k1])), k1)).toBe("KEY_OUT_OF_FORCE 10");
    expect(verdictOf(whole(log.checkpoint(10, [k1])), k1, k2)).toBe("KEY_OUT_OF_FORCE 10");
    expect(verdictOf(whole(log.checkpoint(10, [k1, k2])), k1)).toBe("L1");
  });

  it("the new key signs nothing smaller", () => {
    // The entries reach the rotation, the checkpoint does not: nothing that is covered says that the key came.
    const early = log.bundle({ from: 0, entries: 6, size: 6, checkpoint: log.checkpoint(6, [k2]) });
    expect(verdictOf(early, k1)).toBe("SIGNATURE_INVALID 6");
    const report = verifyBundleFile(bytesOf(whole(head)), { ...options, trustedKeys: [k1.key] }) as BundleReport;
    const verdict = verifyBundleFile(bytesOf(early), { ...options, trustedKeys: [], keyRing: report.keyRing });
    expect(verdict).toMatchObject({ fault: { code: "KEY_OUT_OF_FORCE", sequence: 6 } });
  });

  it("a rotation without its handover, or a handover without its rotation", () => {
    expect(verdictOf(whole(head, []), k1)).toBe("HANDOVER_INVALID 6");
    expect(verdictOf(whole(head, [log.checkpoint(6, [k1, k2]), handover]), k1)).toBe("HANDOVER_INVALID 5");
    expect(verdictOf(whole(head, [handover, log.checkpoint(8, [k1, k2])]), k1)).toBe("HANDOVER_INVALID 7");
    expect(verdictOf(whole(head, [handover, handover]), k1)).toBe("HANDOVER_INVALID 6");
    const later = log.bundle({ from: 8, entries: 2, size: 10, checkpoint: head, handovers: [handover] });
    expect(verdictOf(later, k1)).toBe("HANDOVER_INVALID 6");
    const ahead = [handover, log.checkpoint(9, [k1, k2])];
    const earlier = log.bundle({ from: 0, entries: 8, size: 10, checkpoint: head, handovers: ahead });
    expect(verdictOf(earlier, k1)).toBe("HANDOVER_INVALID 8");
    const beyond = log.bundle({ from: 0, entries: 10, size: 6, checkpoint: log.checkpoint(6), handovers: [handover] });
    expect(verdictOf(beyond, k1)).toBe("HANDOVER_INVALID 6");
  });

  it("a handover that one of the two did not sign", () => {
    expect(verdictOf(whole(head, [log.checkpoint(7, [k1])]), k1)).toBe("HANDOVER_INVALID 6");
    expect(verdictOf(whole(head, [log.checkpoint(7, [k2])]), k1)).toBe("HANDOVER_INVALID 6");
    const forged = { key: k1.key, sign: k3.sign };
    expect(verdictOf(whole(head, [log.checkpoint(7, [forged, k2])]), k1)).toBe("SIGNATURE_INVALID 7");
  });

  it("a handover of another tree or another log", () => {
    const other = sampleLog(7, "other");
    expect(verdictOf(whole(head, [other.checkpoint(7, [k1, k2])]), k1)).toBe("ROOT_MISMATCH 7");
    const foreign = sampleLog(7, "sample", `${origin.slice(0, -1)}6`);
    expect(verdictOf(whole(head, [foreign.checkpoint(7)]), k1)).toBe("CHECKPOINT_MALFORMED 7");
  });

  it("a forged rotation: whoever can write entries but has no key gets nowhere", () => {
    const eve = logSigner(origin, 66);
    const forged = sampleLog(6);
    rotate(forged, k1, eve);
    forged.append();
    const make = (handovers: readonly string[], from = 0) =>
      forged.bundle({ from, entries: 8 - from, size: 8, checkpoint: forged.checkpoint(8, [eve]), handovers });
    expect(verdictOf(make([forged.checkpoint(7, [eve])]), k1)).toBe("HANDOVER_INVALID 6");
    expect(verdictOf(make([forged.checkpoint(7, [{ key: k1.key, sign: eve.sign }, eve])]), k1)).toBe(
      "SIGNATURE_INVALID 7",
    );
    expect(verdictOf(make([], 7), k1)).toBe("SIGNATURE_INVALID 8");
  });

  it("a forged rotation from a key that was never the log's gives no trust", () => {
    const eve = logSigner(origin, 66);
    const mallory = logSigner(origin, 67);
    const forged = sampleLog(6);
    rotate(forged, eve, mallory);
    const checkpoint = forged.checkpoint(7, [eve, mallory]);
    const bundle = forged.bundle({ from: 0, entries: 7, size: 7, checkpoint, handovers: [checkpoint] });
    expect(verdictOf(bundle, k1)).toBe("SIGNATURE_INVALID 7");
  });

  it("a rotation that is no rotation", () => {
    const odd = sampleLog(6);
    odd.append({ action: "key.rotated", subject_id: "someone", data: {} });
    expect(verdictOf(odd.bundle({ from: 0, entries: 7, size: 7 }), k1)).toBe("ENTRY_MALFORMED 6");
  });

  it("a rotation in the unanchored tail changes nothing yet", () => {
    expect(verdictOf(log.bundle({ from: 0, entries: 10, size: 6, checkpoint: log.checkpoint(6) }), k1)).toBe("L1");
  });

  it("a checkpoint that is itself the handover need not stand among the handovers", () => {
    const under = (checkpoint: string, handovers: readonly string[] = []) =>
      verdictOf(log.bundle({ from: 0, entries: 7, size: 7, checkpoint, handovers }), k1);
    expect(under(handover)).toBe("L1");
    expect(under(handover, [handover])).toBe("L1");
    expect(under(log.checkpoint(7, [k1]), [handover])).toBe("L1");
    expect(under(log.checkpoint(7, [k1]))).toBe("HANDOVER_INVALID 6");
  });
});

describe("A28: a revoked key", () => {
  it("signs nothing beyond its trusted size, and everything up to it", () => {
    const log = rotatedLog();
    revoke(log, k2, 9);
    log.append();
    const handovers = [log.checkpoint(7, [k1, k2])];
    const bundle = (size: number) =>
      log.bundle({ from: 0, entries: size, size, checkpoint: log.checkpoint(size, [k2]), handovers });
    expect(verdictOf(bundle(10), k1)).toBe("L1");
    expect(verdictOf(bundle(12), k1)).toBe("KEY_OUT_OF_FORCE 12");
    expect(verdictOf(bundle(12), k1, k2)).toBe("KEY_OUT_OF_FORCE 12");
  });

  it("does not hand over either: what came through it is not trusted", () => {
    const log = rotatedLog();
    revoke(log, k1, 4);
    const handovers = [log.checkpoint(7, [k1, k2])];
    const bundle = log.bundle({ from: 0, entries: 11, size: 11, checkpoint: log.checkpoint(11, [k2]), handovers });
    expect(verdictOf(bundle, k1)).toBe("SIGNATURE_INVALID 11");
    expect(verdictOf(bundle, k2)).toBe("L1");
  });

  it("a revocation is no rotation: a handover after it belongs to nothing", () => {
    const log = sampleLog(3);
    revoke(log, k2, 2);
    const bundle = log.bundle({ from: 0, entries: 4, size: 4, handovers: [log.checkpoint(4, [k1, k2])] });
    expect(verdictOf(bundle, k1)).toBe("HANDOVER_INVALID 3");
  });

  it("is revoked by nobody in an entry that is no revocation", () => {
    const log = sampleLog(3);
    log.append({ action: "key.revoked", subject_id: k1.key.id, data: { key: k1.key.vkey, trusted_size: -1 } });
    expect(verdictOf(log.bundle({ from: 0, entries: 4, size: 4 }), k1)).toBe("ENTRY_MALFORMED 3");
  });
});

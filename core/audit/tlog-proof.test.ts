// A19: proofs of one entry, and everything that looks like one.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { sha256, verifySignature, witnessSigner } from "../../testkit/audit/keys.ts";
import { mutated } from "../../testkit/audit/mutated.ts";
import { bytesOf, firstSigner, origin, sampleLog, secondSigner, tree } from "../../testkit/audit/sample-log.ts";
import { inputCount } from "../../testkit/full-count.ts";
import { prng } from "../../testkit/virtual/prng.ts";
import { encodeBase64, readUtf8 } from "./base64.ts";
import { readCheckpointNote } from "./checkpoint.ts";
import { cosign } from "./cosignature.ts";
import { asHash, bytesOfHash, type Hash } from "./hash.ts";
import { makePolicy, type Policy } from "./policy.ts";
import { readTlogProof, type TlogProof, type TlogProofOptions, verifyTlogProof, writeTlogProof } from "./tlog-proof.ts";

const seed = 20_261_118;
const log = sampleLog(12);
const options: TlogProofOptions = {
  trustedKeys: [firstSigner.key],
  sha256,
  verifySignature,
  nowUs: 1_794_735_000_000_000,
};

function proofOf(index: number, size = 12, change: Partial<TlogProof> = {}): string {
  const hashes = log.inclusion(index, size);
  return writeTlogProof({ entry: log.entries[index]?.text, index, hashes, note: log.checkpoint(size), ...change });
}

function verdictOf(content: string, change: Partial<TlogProofOptions> = {}): string {
  const verdict = verifyTlogProof(content, { ...options, ...change });
  return "fault" in verdict ? verdict.fault.code : verdict.level;
}

describe("a proof of one entry", () => {
  it("verifies for every entry in every size", () => {
    for (let size = 1; size <= 12; size += 1) {
      for (let index = 0; index < size; index += 1) {
        const verdict = verifyTlogProof(proofOf(index, size), options);
        expect(verdict).toMatchObject({ level: "L1", index, size, origin, hash: log.entries[index]?.hash });
      }
    }
  });

  it("is the golden one to the byte, and is read as it was written", () => {
    const golden = readFileSync(new URL("./golden/entry-5.tlog-proof", import.meta.url), "utf8");
    expect(proofOf(5)).toBe(golden);
    expect(verdictOf(golden)).toBe("L1");
    const read = readTlogProof(golden);
    expect("malformed" in read ? "" : writeTlogProof(read)).toBe(golden);
  });

  it("without the entry in it needs it from elsewhere, and takes no other", () => {
    const bare = proofOf(5, 12, { entry: undefined });
    const entry = log.entries[5]?.text ?? new Uint8Array();
    const other = log.entries[6]?.text ?? new Uint8Array();
    expect(verdictOf(bare)).toBe("PROOF_INVALID");
    expect(verdictOf(bare, { entry })).toBe("L1");
    expect(verdictOf(bare, { entry: other })).toBe("SEQUENCE_MISMATCH");
    expect(verdictOf(proofOf(5), { entry: other })).toBe("PROOF_INVALID");
  });

  it("says L0 without keys, L2 with a policy that is met", () => {
    const witness = witnessSigner("witness.example/w1", 11);
    const policy = makePolicy(1, [witness.key]) as Policy;
    const note = log.checkpoint(12);
    const read = readCheckpointNote(note);
    const text = "malformed" in read ? "" : read.note.text;
    expect(verdictOf(proofOf(5), { trustedKeys: [] })).toBe("L0");
    expect(verdictOf(proofOf(5), { policy })).toBe("WITNESSES_MISSING");
    expect(verdictOf(proofOf(5, 12, { note: note + cosign(text, witness, 1_794_735_000) }), { policy })).toBe("L2");
  });
});

describe("A19: a proof", () => {
  const hashes = log.inclusion(5, 12);
  const [first, ...rest] = hashes as [Hash, ...Hash[]];

  it("with a hash too many, too few, or in another order", () => {
    expect(verdictOf(proofOf(5, 12, { hashes: [...hashes, first] }))).toBe("PROOF_INVALID");
    expect(verdictOf(proofOf(5, 12, { hashes: [first, ...hashes] }))).toBe("PROOF_INVALID");
    expect(verdictOf(proofOf(5, 12, { hashes: rest }))).toBe("PROOF_INVALID");
    expect(verdictOf(proofOf(5, 12, { hashes: hashes.slice(0, -1) }))).toBe("PROOF_INVALID");
    expect(verdictOf(proofOf(5, 12, { hashes: [] }))).toBe("PROOF_INVALID");
    expect(verdictOf(proofOf(5, 12, { hashes: [...hashes].reverse() }))).toBe("PROOF_INVALID");
  });

  it("with more than 63 hashes", () => {
    expect(verdictOf(proofOf(5, 12, { hashes: Array.from({ length: 64 }, () => first) }))).toBe("PROOF_INVALID");
    expect(readTlogProof(proofOf(5, 12, { hashes: Array.from({ length: 63 }, () => first) }))).not.toHaveProperty(
      "malformed",
    );
    expect(readTlogProof(proofOf(5, 12, { hashes: Array.from({ length: 64 }, () => first) }))).toHaveProperty(
      "malformed",
    );
  });

  it("of another index: the entry says its own, and the hashes theirs", () => {
    expect(verdictOf(proofOf(5, 12, { index: 4 }))).toBe("SEQUENCE_MISMATCH");
    expect(verdictOf(proofOf(5, 12, { index: 4, entry: log.entries[4]?.text }))).toBe("PROOF_INVALID");
    expect(verdictOf(proofOf(5, 12, { index: 12, entry: log.entries[11]?.text }))).toBe("SEQUENCE_MISMATCH");
  });

  it("of an index past the size", () => {
    const longer = sampleLog(13);
    expect(verdictOf(proofOf(5, 12, { index: 12, entry: longer.entries[12]?.text }))).toBe("PROOF_INVALID");
  });

  it("used again with another checkpoint", () => {
    expect(verdictOf(proofOf(5, 12, { note: log.checkpoint(11) }))).toBe("PROOF_INVALID");
    expect(verdictOf(proofOf(5, 12, { note: sampleLog(12, "other").checkpoint(12) }))).toBe("PROOF_INVALID");
  });

  it("of an inner node as a leaf: the bytes of a node are no entry, and hash differently", () => {
    const node = new Uint8Array(64);
    node.set(bytesOfHash(log.entries[4]?.leaf ?? first));
    node.set(bytesOfHash(log.entries[5]?.leaf ?? first), 32);
    expect(verdictOf(proofOf(5, 12, { entry: node, hashes: rest }))).toBe("ENTRY_MALFORMED");
    expect(tree.leaf(node)).not.toBe(log.hashAt(1, 2));
  });

  it("of an entry that is not hashed as it says, though the tree has it", () => {
    const odd = sampleLog(3);
    const broken = new TextDecoder().decode(odd.entries[2]?.text).replace("12.50", "99.50");
    const text = bytesOf(broken);
    odd.entries[2] = { text, hash: "", leaf: tree.leaf(text) };
    const proof = writeTlogProof({ entry: text, index: 2, hashes: odd.inclusion(2, 3), note: odd.checkpoint(3) });
    expect(verdictOf(proof)).toBe("HASH_MISMATCH");
  });

  it("of an entry 0 that is no genesis", () => {
    const odd = sampleLog(0);
    odd.append({ prev_hash: "0".repeat(64) });
    const proof = writeTlogProof({ entry: odd.entries[0]?.text, index: 0, hashes: [], note: odd.checkpoint(1) });
    expect(verdictOf(proof)).toBe("GENESIS_MISMATCH");
  });

  it("under another key, of another log, or with a broken checkpoint", () => {
    expect(verdictOf(proofOf(5, 12, { note: log.checkpoint(12, [secondSigner]) }))).toBe("SIGNATURE_INVALID");
    expect(verdictOf(proofOf(5), { origin: "another.log" })).toBe("CHECKPOINT_MALFORMED");
    expect(verdictOf(proofOf(5, 12, { note: log.checkpoint(12).replace("\n12\n", "\n012\n") }))).toBe(
      "CHECKPOINT_MALFORMED",
    );
  });

  it.each([
    ["nothing", ""],
    ["another first line", proofOf(5).replace("@v1", "@v2")],
    ["no index", proofOf(5).replace("index 5\n", "")],
    ["an index with a leading zero", proofOf(5).replace("index 5", "index 05")],
    ["extra twice", proofOf(5).replace("extra ", `extra ${encodeBase64(new Uint8Array(1))}\nextra `)],
    ["extra behind the index", proofOf(5).replace(/(extra [^\n]*\n)(index 5\n)/, "$2$1")],
    ["extra that is no base64", proofOf(5).replace("extra ", "extra *")],
    ["a line that is no hash", proofOf(5).replace("index 5\n", "index 5\nhello\n")],
    ["a carriage return", proofOf(5).replaceAll("\n", "\r\n")],
    ["no empty line", proofOf(5).replace("\n\n", "\n")],
    ["more than anybody needs", `c2sp.org/tlog-proof@v1\n${"x".repeat(700_000)}`],
  ])("with %s is none", (_, content) => {
    expect(["PROOF_INVALID", "CHECKPOINT_MALFORMED"]).toContain(verdictOf(content));
  });

  it(`of random hashes never verifies (seed ${seed})`, () => {
    const random = prng(seed);
    for (let round = 0; round < inputCount(400); round += 1) {
      const index = random.below(12);
      const made = Array.from({ length: random.below(7) }, () => asHash(sha256(random.bytes(4))));
      expect(verdictOf(proofOf(index, 12, { hashes: made, note: note12 }), { verifySignature: () => true })).toBe(
        "PROOF_INVALID",
      );
    }
  });

  it(`mutated anywhere never verifies as anything else (seed ${seed})`, () => {
    const random = prng(seed);
    const bytes = bytesOf(proofOf(5));
    let verified = 0;
    for (let round = 0; round < inputCount(1_000); round += 1) {
      const verdict = verifyTlogProof(readUtf8(mutated(bytes, random)) ?? "", options);
      if ("fault" in verdict) continue;
      verified += 1;
      expect(verdict).toMatchObject({ index: 5, hash: log.entries[5]?.hash, size: 12 });
    }
    expect(verified).toBeLessThan(20);
  });
});

const note12 = log.checkpoint(12);

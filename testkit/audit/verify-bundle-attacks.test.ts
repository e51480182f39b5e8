// Bundles under attack, each attack under its number.
import { describe, expect, it } from "vitest";
import { createChainCheck } from "../../core/audit/chain-check.ts";
import { signCheckpoint } from "../../core/audit/checkpoint.ts";
import { makePolicy, type Policy } from "../../core/audit/policy.ts";
import { rechained, withEntries, withHeader } from "./bundle-edits.ts";
import { sha256, verifySignature, witnessSigner } from "./keys.ts";
import { bytesOf, firstSigner, linesOf, origin, type SampleLog, sampleLog, secondSigner, tree } from "./sample-log.ts";
import { type BundleOptions, verifyBundleFile } from "./verify-bundle.ts";

const options: BundleOptions = {
  trustedKeys: [firstSigner.key],
  sha256,
  verifySignature,
  nowUs: 1_794_735_000_000_000,
};
const log = sampleLog(12);
const whole = log.bundle({ from: 0, entries: 12, size: 12 });
const middle = log.bundle({ from: 5, entries: 4, size: 12 });

function verdictOf(content: string | Uint8Array, change: Partial<BundleOptions> = {}): string {
  const bytes = typeof content === "string" ? bytesOf(content) : content;
  const verdict = verifyBundleFile(bytes, { ...options, ...change });
  return "fault" in verdict ? `${verdict.fault.code} ${verdict.fault.sequence}` : verdict.level;
}

describe("A4: edited and chained again to the head, without the key", () => {
  const forged = rechained(4);

  it("passes L0: as a chain it is perfect", () => {
    const chain = createChainCheck({ sha256, from: 0, origin });
    for (const { text } of forged.entries) expect(chain.next(text)).toBeUndefined();
    const unsigned = forged.bundle({
      from: 0,
      entries: 12,
      size: 12,
      checkpoint: forged.checkpoint(12, [secondSigner]),
    });
    expect(verdictOf(unsigned, { trustedKeys: [] })).toBe("L0");
  });

  it("fails L1, under the old checkpoint and under one of its own making", () => {
    expect(verdictOf(forged.bundle({ from: 0, entries: 12, size: 12, checkpoint: log.checkpoint(12) }))).toBe(
      "ROOT_MISMATCH 12",
    );
    expect(
      verdictOf(forged.bundle({ from: 0, entries: 12, size: 12, checkpoint: forged.checkpoint(12, [secondSigner]) })),
    ).toBe("SIGNATURE_INVALID 12");
    const stolen = { key: firstSigner.key, sign: secondSigner.sign };
    expect(
      verdictOf(forged.bundle({ from: 0, entries: 12, size: 12, checkpoint: forged.checkpoint(12, [stolen]) })),
    ).toBe("SIGNATURE_INVALID 12");
  });

  it("A5: with the key it passes L1, and no witness has cosigned it", () => {
    const policy = makePolicy(1, [witnessSigner("witness.example/w1", 11).key]) as Policy;
    const bundle = forged.bundle({ from: 0, entries: 12, size: 12 });
    expect(verdictOf(bundle)).toBe("L1");
    expect(verdictOf(bundle, { policy })).toBe("WITNESSES_MISSING 12");
  });
});

describe("A7: cut off at the end", () => {
  it.each([1, 3, 4, 11, 12])("by %i lines", (cut) => {
    expect(verdictOf(withEntries(whole, (lines) => lines.slice(0, -cut)))).toBe(`TRUNCATED ${12 - cut}`);
  });

  it.each([1, 3, 4, 11, 12])("by %i, with a header that says so", (cut) => {
    const shorter = withHeader(
      withEntries(whole, (lines) => lines.slice(0, -cut)),
      { entries: 12 - cut },
    );
    expect(verdictOf(shorter)).toBe(`TRUNCATED ${12 - cut}`);
  });

  it("with hashes in place of what is missing it is a bundle of less, and says so", () => {
    const less = verifyBundleFile(bytesOf(log.bundle({ from: 0, entries: 8, size: 12 })), options);
    expect(less).toMatchObject({ level: "L1", entries: 8, size: 12 });
    const [header = ""] = log.bundle({ from: 0, entries: 8, size: 12 }).split("\n").slice(1);
    const { right } = JSON.parse(header) as { right: string[] };
    expect(
      verdictOf(
        withHeader(
          withEntries(whole, (lines) => lines.slice(0, 7)),
          { entries: 7, right },
        ),
      ),
    ).toBe("TRUNCATED 7");
  });

  it("to the edge of an older checkpoint, it says the older size", () => {
    expect(verifyBundleFile(bytesOf(log.bundle({ from: 0, entries: 8, size: 8 })), options)).toMatchObject({
      size: 8,
      entries: 8,
    });
  });

  it("in the middle of a line, at every byte of the last two", () => {
    const bytes = bytesOf(whole);
    for (let cut = 1; cut < 700; cut += 1)
      expect(verdictOf(bytes.subarray(0, bytes.length - cut))).toMatch(/^TRUNCATED 1[01]$/);
  });
});

describe("A9: nothing at all", () => {
  it.each([
    ["an empty file", "", "BUNDLE_MALFORMED 0"],
    ["a line feed", "\n", "BUNDLE_MALFORMED 0"],
    ["the first line alone", "portcullis-audit-bundle/v1\n", "BUNDLE_MALFORMED 0"],
    ["the first line of another version", whole.replace("/v1", "/v2"), "BUNDLE_MALFORMED 0"],
    ["a header without a checkpoint", withHeader(whole, { checkpoint: "" }), "CHECKPOINT_MALFORMED 0"],
    [
      "no entries under a checkpoint that has some",
      withHeader(
        withEntries(whole, () => []),
        { entries: 0 },
      ),
      "TRUNCATED 0",
    ],
  ])("%s", (_, bundle, verdict) => {
    expect(verdictOf(bundle)).toBe(verdict);
  });

  it("an empty log under its own empty checkpoint is what it says: empty", () => {
    expect(verifyBundleFile(bytesOf(sampleLog(0).bundle({ from: 0, entries: 0, size: 0 })), options)).toMatchObject({
      entries: 0,
      size: 0,
    });
  });
});

describe("A13: pieces of two logs", () => {
  const other = sampleLog(12, "sample", `${origin.slice(0, -1)}6`);
  const texts = (from: SampleLog) => linesOf(from.entries).split("\n").slice(0, -1);

  it("a prefix of one and a suffix of the other", () => {
    const spliced = withEntries(whole, (lines) => [...lines.slice(0, 6), ...texts(other).slice(6)]);
    expect(verdictOf(spliced)).toBe("LINK_MISMATCH 6");
  });

  it("the entries of one under the checkpoint of the other", () => {
    expect(verdictOf(other.bundle({ from: 0, entries: 12, size: 12, checkpoint: log.checkpoint(12) }))).toBe(
      "GENESIS_MISMATCH 0",
    );
    expect(verdictOf(other.bundle({ from: 3, entries: 9, size: 12, checkpoint: log.checkpoint(12) }))).toBe(
      "ROOT_MISMATCH 12",
    );
    expect(verdictOf(other.bundle({ from: 0, entries: 12, size: 12 }))).toBe("CHECKPOINT_MALFORMED 12");
    expect(verdictOf(whole, { origin: other.origin })).toBe("CHECKPOINT_MALFORMED 12");
    expect(verdictOf(whole, { origin: other.origin, trustedKeys: [] })).toBe("CHECKPOINT_MALFORMED 12");
  });

  it("a suffix of the other behind hashes of this one", () => {
    const [, header = ""] = middle.split("\n");
    const { left } = JSON.parse(header) as { left: string[] };
    expect(
      verdictOf(
        withHeader(
          withEntries(middle, () => texts(other).slice(5, 9)),
          { left },
        ),
      ),
    ).toBe("ROOT_MISMATCH 12");
  });
});

describe("A20: chain and tree disagree", () => {
  it("a valid chain of other leaves than the tree's", () => {
    const forged = rechained(7);
    const bundle = withEntries(whole, () => linesOf(forged.entries).split("\n").slice(0, -1));
    expect(verdictOf(bundle)).toBe("ROOT_MISMATCH 12");
  });

  it("a valid, signed tree over entries whose links are broken", () => {
    const broken = sampleLog(6);
    broken.append({ prev_hash: broken.entries[2]?.hash ?? "" });
    broken.append();
    expect(verdictOf(broken.bundle({ from: 0, entries: 8, size: 8 }))).toBe("LINK_MISMATCH 6");
    const hole = sampleLog(6);
    const text = bytesOf(new TextDecoder().decode(hole.entries[5]?.text).replace("12.50", "13.50"));
    hole.entries[5] = { text, hash: hole.entries[5]?.hash ?? "", leaf: tree.leaf(text) };
    expect(verdictOf(hole.bundle({ from: 0, entries: 6, size: 6 }))).toBe("HASH_MISMATCH 5");
  });

  it("a valid, signed tree over a gap, a repetition, or a time that runs backwards", () => {
    const gap = sampleLog(6);
    gap.append({ sequence: 7 });
    expect(verdictOf(gap.bundle({ from: 0, entries: 7, size: 7 }))).toBe("SEQUENCE_MISMATCH 6");
    const back = sampleLog(6);
    back.append({ timestamp: "2026-11-15T09:29:59.999999Z" });
    expect(verdictOf(back.bundle({ from: 0, entries: 7, size: 7 }))).toBe("TIME_BACKWARDS 6");
  });
});

describe("A21: hashes of the tree that are not the tree's", () => {
  const [, header = ""] = middle.split("\n");
  const { left, right } = JSON.parse(header) as { left: string[]; right: string[] };
  const other = JSON.parse(sampleLog(12, "other").bundle({ from: 5, entries: 4, size: 12 }).split("\n")[1] ?? "") as {
    left: string[];
    right: string[];
  };

  it.each([0, 1])("the left one number %i replaced", (at) => {
    expect(verdictOf(withHeader(middle, { left: left.with(at, other.left[at] ?? "") }))).toBe("ROOT_MISMATCH 12");
  });

  it.each([0, 1])("the right one number %i replaced", (at) => {
    expect(verdictOf(withHeader(middle, { right: right.with(at, other.right[at] ?? "") }))).toBe("ROOT_MISMATCH 12");
  });

  it("in another order, one too many, one too few, none", () => {
    expect(verdictOf(withHeader(middle, { left: left.toReversed() }))).toBe("ROOT_MISMATCH 12");
    expect(verdictOf(withHeader(middle, { left: [...left, ...left] }))).toBe("BUNDLE_MALFORMED 0");
    expect(verdictOf(withHeader(middle, { left: [] }))).toBe("BUNDLE_MALFORMED 0");
    expect(verdictOf(withHeader(middle, { right: [...right, ...right] }))).toBe("BUNDLE_MALFORMED 0");
    expect(verdictOf(withHeader(middle, { right: right.slice(1) }))).toBe("TRUNCATED 9");
  });
});

describe("A23: a bundle that begins in the middle", () => {
  it("an entry before it was tampered with: its link is that of another log", () => {
    const forged = rechained(2);
    expect(verdictOf(forged.bundle({ from: 5, entries: 4, size: 12, checkpoint: log.checkpoint(12) }))).toBe(
      "ROOT_MISMATCH 12",
    );
  });

  it("the link at its beginning was forged: consistent by itself, and not what the checkpoint says", () => {
    const forged = sampleLog(5);
    forged.append({ prev_hash: "ab".repeat(32) });
    while (forged.entries.length < 12) forged.append();
    expect(
      verdictOf(forged.bundle({ from: 5, entries: 4, size: 12, checkpoint: forged.checkpoint(12, [secondSigner]) }), {
        trustedKeys: [],
      }),
    ).toBe("L0");
    expect(verdictOf(forged.bundle({ from: 5, entries: 4, size: 12, checkpoint: log.checkpoint(12) }))).toBe(
      "ROOT_MISMATCH 12",
    );
  });

  it("other numbers than its entries have", () => {
    expect(verdictOf(withHeader(middle, { from: 6 }))).toMatch(
      /^(SEQUENCE_MISMATCH 6|BUNDLE_MALFORMED 0|TRUNCATED 10)$/,
    );
    expect(verdictOf(withHeader(middle, { from: 13, left: [] }))).toBe("BUNDLE_MALFORMED 0");
  });
});

describe("A18: the checkpoint of a bundle", () => {
  it("of size 0 with the root of another tree, or with an extension line", () => {
    const root = log.root(12);
    expect(() => signCheckpoint({ origin, size: 0, root }, [firstSigner])).toThrow(RangeError);
    const checkpoint = log.checkpoint(12).replace("\n\n", "\nmore\n\n");
    expect(verdictOf(log.bundle({ from: 0, entries: 12, size: 12, checkpoint }))).toBe("CHECKPOINT_MALFORMED 0");
  });

  it("of another size than the entries and hashes make up", () => {
    expect(verdictOf(withHeader(whole, { checkpoint: log.checkpoint(11) }))).toBe("L1");
    expect(verdictOf(withHeader(middle, { checkpoint: log.checkpoint(11) }))).toMatch(
      /^(ROOT_MISMATCH 11|BUNDLE_MALFORMED 0)$/,
    );
    expect(verdictOf(withHeader(middle, { checkpoint: log.checkpoint(4) }))).toBe("BUNDLE_MALFORMED 0");
  });
});

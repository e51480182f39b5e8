// The attacks on a chain, named as in the threat list, each on the bytes of a log: what the chain alone catches, and at which entry; and what only the
// root catches, which is why there is one.
import { hash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { logSigner } from "../../testkit/audit/keys.ts";
import { decodeUtf8, utf8 } from "./canonical/canonical-json.ts";
import { type ChainCheckOptions, type ChainFault, createChainCheck } from "./chain-check.ts";
import { type Entry, type EntryFields, hashOfSix, makeEntry, readEntry, withHashes, withoutHashes } from "./entry.ts";
import { createFrontier } from "./frontier.ts";
import { makeGenesis } from "./genesis.ts";
import { type Hash, zeroHex } from "./hash.ts";
import { createTreeHash } from "./merkle.ts";
import { inclusionProof, verifyInclusion } from "./proof.ts";

const sha256 = (content: Uint8Array): string => hash("sha256", content, "binary");
const tree = createTreeHash(sha256);
const incarnation = "8f14e45f-ceea-467f-a0e6-2d9c1b7f3a55";
const origin = `portcullis/audit/${incarnation}`;
const keys = [`${origin}+a3d2837f+AddamAGCsQq31Uv+08lkBzoO4XLz2qYjJa8CGmj3B1Ea`];
const count = 50;

function timeOf(sequence: number): string {
  return `2026-11-15T09:30:${String(sequence).padStart(2, "0")}.000000Z`;
}

function fieldsOf(sequence: number, prevHash: string): EntryFields {
  return {
    sequence,
    timestamp: timeOf(sequence),
    actor: "operator:ada",
    action: "order.decided",
    subject_id: `order-${sequence % 5}`,
    data: sequence % 2 === 0 ? { n: sequence } : { é: ["\n", null, true] },
    prev_hash: prevHash,
  };
}

const log: Entry[] = [makeGenesis({ origin, incarnation, keys, timestamp: timeOf(0) }, sha256)];
while (log.length < count) log.push(makeEntry(fieldsOf(log.length, log.at(-1)?.hash ?? zeroHex), sha256));
const texts = log.map(({ text }) => text);
const textOf = (sequence: number): Uint8Array => texts[sequence] ?? new Uint8Array(0);
const hashOf = (sequence: number): string => (sequence < 0 ? zeroHex : (log[sequence]?.hash ?? zeroHex));

const kept = new Map<string, Hash>();
const root = rootOf(texts, (level, index, full) => kept.set(`${level}/${index}`, full));
const proofs = log.map((_, index) =>
  inclusionProof(tree, index, count, (level, at) => kept.get(`${level}/${at}`) ?? tree.empty),
);

function rootOf(all: readonly Uint8Array[], completed?: (level: number, index: number, full: Hash) => void): Hash {
  const frontier = createFrontier(tree, undefined, completed);
  for (const text of all) frontier.append(tree.leaf(text));
  return frontier.root();
}

function check(all: readonly Uint8Array[], options: Partial<ChainCheckOptions> = {}): ChainFault | undefined {
  const chain = createChainCheck({ sha256, from: 0, ...options });
  let fault: ChainFault | undefined;
  for (const text of all) fault = chain.next(text);
  return fault;
}

/** One entry that should stand at this place. */
function checkAt(sequence: number, text: Uint8Array): ChainFault | undefined {
  const prev = { prevHash: hashOf(sequence - 1), ...(sequence > 0 && { lastTimestamp: timeOf(sequence - 1) }) };
  return check([text], { from: sequence, ...prev });
}

function edited(text: Uint8Array, from: string | RegExp, to: string): Uint8Array {
  const before = decodeUtf8(text);
  const after = before.replace(from, () => to);
  expect(after).not.toBe(before);
  return utf8(after);
}

/** The same text with the hash that it should have. */
function rehashed(text: Uint8Array): Uint8Array {
  const six = withoutHashes(text);
  const prev = readEntry(text)?.prev_hash;
  if (six === undefined || prev === undefined) throw new Error("not an entry");
  return withHashes(six, hashOfSix(prev, six, sha256), prev) ?? text;
}

/** Made anew from a place on, as somebody would who may write everything. */
function rechained(all: readonly Uint8Array[], from: number): Uint8Array[] {
  const made = all.slice(0, from);
  for (const text of all.slice(from)) {
    const record = readEntry(text);
    const last = made.at(-1);
    if (record === undefined) throw new Error("not an entry");
    const prev = last === undefined ? zeroHex : (readEntry(last)?.hash ?? zeroHex);
    const { hash: _, ...fields } = record;
    made.push(makeEntry({ ...fields, sequence: made.length, prev_hash: prev }, sha256).text);
  }
  return made;
}

describe("the chain", () => {
  it("is whole, from any entry on", () => {
    expect(check(texts, { origin })).toBeUndefined();
    for (let from = 0; from < count; from += 7) {
      const prev = { prevHash: hashOf(from - 1) };
      expect(check(texts.slice(from), { from, ...prev })).toBeUndefined();
      expect(check(texts.slice(from), { from })).toBeUndefined();
    }
    const chain = createChainCheck({ sha256, from: 0 });
    expect([chain.sequence, chain.hash, chain.timestamp]).toEqual([0, undefined, undefined]);
    for (const text of texts) chain.next(text);
    expect([chain.sequence, chain.hash, chain.timestamp]).toEqual([count, hashOf(count - 1), timeOf(count - 1)]);
  });

  it("is not taken up again after a fault, and remembers the last good entry", () => {
    const chain = createChainCheck({ sha256, from: 0 });
    chain.next(textOf(0));
    const fault = chain.next(textOf(2));
    expect(fault?.code).toBe("SEQUENCE_MISMATCH");
    expect(chain.next(textOf(1))).toBe(fault);
    expect([chain.sequence, chain.hash, chain.timestamp]).toEqual([1, hashOf(0), timeOf(0)]);
  });

  it("is not begun with what is no beginning", () => {
    for (const wrong of [
      { from: -1 },
      { from: 0.5 },
      { prevHash: "x" },
      { prevHash: hashOf(3) },
      { lastTimestamp: "now" },
    ]) {
      expect(() => check([], wrong)).toThrow(RangeError);
    }
  });

  it("A1 a bit of every byte of 50 entries, flipped: found at that entry, and the leaf is not in the tree", () => {
    for (const [sequence, text] of texts.entries()) {
      const flipped = Uint8Array.from(text);
      const claim = { index: sequence, size: count, root, proof: proofs[sequence] ?? [] };
      for (const [at, byte] of text.entries()) {
        // Another bit each time; the long form flips all eight.
        flipped[at] = byte ^ (1 << ((at + sequence) & 7));
        if (checkAt(sequence, flipped)?.sequence !== sequence)
          expect.fail(`byte ${at} of entry ${sequence} was not found`);
        if (verifyInclusion(tree, { ...claim, leaf: tree.leaf(flipped) })) expect.fail(`byte ${at} is in the tree`);
        flipped[at] = byte;
      }
      expect(checkAt(sequence, flipped)).toBeUndefined();
      expect(verifyInclusion(tree, { ...claim, leaf: tree.leaf(flipped) })).toBe(true);
    }
  });

  it.each([
    ["sequence", '"sequence":7', '"sequence":8', "SEQUENCE_MISMATCH", "7", "8"],
    ["timestamp", "09:30:07", "09:30:08", "HASH_MISMATCH", undefined, hashOf(7)],
    ["actor", "ada", "eve", "HASH_MISMATCH", undefined, hashOf(7)],
    ["action", "order.decided", "order.deleted", "HASH_MISMATCH", undefined, hashOf(7)],
    ["subject_id", "order-2", "order-3", "HASH_MISMATCH", undefined, hashOf(7)],
    ["data", "true", "false", "HASH_MISMATCH", undefined, hashOf(7)],
    ["prev_hash", hashOf(6), hashOf(5), "LINK_MISMATCH", hashOf(6), hashOf(5)],
    ["hash", hashOf(7), hashOf(8), "HASH_MISMATCH", hashOf(7), hashOf(8)],
  ])("A2 %s edited", (_, from, to, code, expected, actual) => {
    const wrong = edited(textOf(7), from, to);
    const fault = check(texts.with(7, wrong));
    expect(fault).toMatchObject({ code, sequence: 7, actual, ...(expected !== undefined && { expected }) });
    if (code === "HASH_MISMATCH") expect(fault?.expected).toBe(readEntry(rehashed(wrong))?.hash);
  });

  it("A3 edited with its own hash made new: the next entry does not follow; of the last one only the root tells", () => {
    const wrong = rehashed(edited(textOf(7), "ada", "eve"));
    const actual = hashOf(7);
    const expected = readEntry(wrong)?.hash;
    expect(check(texts.with(7, wrong))).toEqual({ code: "LINK_MISMATCH", sequence: 8, expected, actual });
    const end = texts.with(count - 1, rehashed(edited(textOf(count - 1), "ada", "eve")));
    expect(check(end)).toBeUndefined();
    expect(rootOf(end)).not.toBe(root);
  });

  it("A4 edited and everything after it made new: the chain is whole, the root is not", () => {
    const wrong = rechained(texts.with(7, rehashed(edited(textOf(7), "ada", "eve"))), 8);
    expect(check(wrong, { origin })).toBeUndefined();
    expect(rootOf(wrong)).not.toBe(root);
  });

  it("A6 an entry deleted, renumbered, made new", () => {
    const deleted = texts.toSpliced(7, 1);
    expect(check(deleted)).toMatchObject({ code: "SEQUENCE_MISMATCH", sequence: 7, expected: "7", actual: "8" });
    const renumbered = deleted.map((text, at) =>
      at < 7 ? text : edited(text, `"sequence":${at + 1},`, `"sequence":${at},`),
    );
    expect(check(renumbered)).toMatchObject({
      code: "LINK_MISMATCH",
      sequence: 7,
      expected: hashOf(6),
      actual: hashOf(7),
    });
    const relinked = renumbered.with(7, edited(renumbered[7] ?? textOf(7), hashOf(7), hashOf(6)));
    expect(check(relinked)).toMatchObject({ code: "HASH_MISMATCH", sequence: 7 });
    const made = rechained(deleted, 7);
    expect(check(made)).toBeUndefined();
    expect(rootOf(made)).not.toBe(root);
    expect(check(texts.slice(1))).toMatchObject({ code: "SEQUENCE_MISMATCH", sequence: 0 });
  });

  it("A10 an entry put in, in the past or with an old time at the end", () => {
    const extra = makeEntry({ ...fieldsOf(7, hashOf(6)), actor: "operator:eve" }, sha256);
    expect(check(texts.toSpliced(7, 0, extra.text))).toMatchObject({ code: "SEQUENCE_MISMATCH", sequence: 8 });
    const late = makeEntry({ ...fieldsOf(count, hashOf(count - 1)), timestamp: timeOf(3) }, sha256);
    expect(check([...texts, late.text])).toEqual({
      code: "TIME_BACKWARDS",
      sequence: count,
      expected: timeOf(count - 1),
      actual: timeOf(3),
    });
    const same = makeEntry({ ...fieldsOf(count, hashOf(count - 1)), timestamp: timeOf(count - 1) }, sha256);
    expect(check([...texts, same.text])).toBeUndefined();
    const first = makeEntry({ ...fieldsOf(9, hashOf(8)), timestamp: timeOf(1) }, sha256);
    expect(check([first.text], { from: 9, prevHash: hashOf(8), lastTimestamp: timeOf(8) })?.code).toBe(
      "TIME_BACKWARDS",
    );
  });

  it("A11 two entries swapped, neighbours or of the same subject", () => {
    for (const [left, right] of [
      [7, 8],
      [7, 12],
    ] as const) {
      const swapped = texts.with(left, textOf(right)).with(right, textOf(left));
      expect(check(swapped)).toMatchObject({ code: "SEQUENCE_MISMATCH", sequence: left, actual: String(right) });
      const numbered = swapped.map((text, at) =>
        at === left || at === right ? edited(text, /"sequence":[0-9]+/, `"sequence":${at}`) : text,
      );
      expect(check(numbered)).toMatchObject({ code: "LINK_MISMATCH", sequence: left });
    }
  });

  it("A12 an entry twice, and an old end once more", () => {
    expect(check(texts.toSpliced(7, 0, textOf(7)))).toMatchObject({
      code: "SEQUENCE_MISMATCH",
      sequence: 8,
      actual: "7",
    });
    expect(check([...texts, ...texts.slice(40)])).toMatchObject({
      code: "SEQUENCE_MISMATCH",
      sequence: count,
      actual: "40",
    });
    const again = rechained([...texts, textOf(count - 1)], count);
    expect(check(again)).toBeUndefined();
    expect(rootOf(again)).not.toBe(root);
  });

  it("A13 the beginning of one log and the end of another", () => {
    const other = incarnation.replace("8f14", "0000");
    const otherOrigin = `portcullis/audit/${other}`;
    const otherKeys = [logSigner(otherOrigin, 1).key.vkey];
    const genesis = makeGenesis(
      { origin: otherOrigin, incarnation: other, keys: otherKeys, timestamp: timeOf(0) },
      sha256,
    );
    expect(check(texts.with(0, genesis.text))).toMatchObject({ code: "LINK_MISMATCH", sequence: 1 });
    expect(check([genesis.text])).toBeUndefined();
    expect(check([genesis.text], { origin })).toMatchObject({
      code: "GENESIS_MISMATCH",
      sequence: 0,
      actual: otherOrigin,
    });
    const none = makeEntry(fieldsOf(0, zeroHex), sha256);
    expect(check([none.text])).toMatchObject({ code: "GENESIS_MISMATCH", sequence: 0 });
  });

  it("A20 a whole chain of other leaves, and a tree of entries that do not follow", () => {
    const other = rechained(texts.with(3, rehashed(edited(textOf(3), "ada", "eve"))), 4);
    expect([check(other), rootOf(other) === root]).toEqual([undefined, false]);
    const unlinked = texts.with(7, rehashed(edited(textOf(7), "ada", "eve")));
    const itsRoot = rootOf(unlinked);
    expect([rootOf(unlinked) === itsRoot, check(unlinked)?.code]).toEqual([true, "LINK_MISMATCH"]);
  });

  it("A23 an entry before the first one shown is not read, but the link to it is when it is known", () => {
    const forged = rehashed(edited(textOf(7), hashOf(6), hashOf(5)));
    expect(check([forged], { from: 7 })).toBeUndefined();
    expect(check([forged], { from: 7, prevHash: hashOf(6) })).toMatchObject({ code: "LINK_MISMATCH", sequence: 7 });
    expect(check([edited(textOf(0), zeroHex, hashOf(3))])).toMatchObject({ code: "LINK_MISMATCH", sequence: 0 });
  });
});

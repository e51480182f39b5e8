// Bundles: whole ones, ones that end in the open, and files that are none.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readCheckpointNote } from "../../core/audit/checkpoint.ts";
import { cosign } from "../../core/audit/cosignature.ts";
import { makePolicy, type Policy } from "../../core/audit/policy.ts";
import { inputCount } from "../full-count.ts";
import { prng } from "../virtual/prng.ts";
import { withEntries, withHeader } from "./bundle-edits.ts";
import { sha256, verifySignature, witnessSigner } from "./keys.ts";
import { createLineSplitter } from "./lines.ts";
import { mutated } from "./mutated.ts";
import { bytesOf, firstSigner, linesOf, origin, sampleLog } from "./sample-log.ts";
import { type BundleOptions, createBundleVerifier, verifyBundle, verifyBundleFile } from "./verify-bundle.ts";

const seed = 20_261_119;
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

describe("a whole bundle", () => {
  it.each([
    ["bundle-0-12.txt", whole],
    ["bundle-5-9.txt", middle],
  ])("%s is the golden one to the byte", (name, bundle) => {
    expect(bundle).toBe(readFileSync(new URL(`../../core/audit/golden/${name}`, import.meta.url), "utf8"));
    expect(verdictOf(bundle)).toBe("L1");
  });

  it("says what it is of", () => {
    expect(verifyBundleFile(bytesOf(middle), options)).toMatchObject({
      level: "L1",
      origin,
      from: 5,
      entries: 4,
      size: 12,
      unanchoredTail: 0,
      firstHash: log.entries[5]?.hash,
      lastHash: log.entries[8]?.hash,
      root: log.root(12),
      signedBy: [firstSigner.key],
    });
  });

  it("verifies for every range of every size", () => {
    for (let size = 0; size <= 9; size += 1) {
      for (let from = 0; from <= size; from += 1) {
        for (let entries = 0; from + entries <= size + 1; entries += 1) {
          const verdict = verifyBundleFile(bytesOf(log.bundle({ from, entries, size })), options);
          expect(verdict, `${from} ${entries} ${size}`).toMatchObject({
            level: entries > 0 && from === size ? "L0" : "L1",
            unanchoredTail: Math.max(0, from + entries - size),
          });
        }
      }
    }
  });

  it("verifies in pieces of any length, and line by line", () => {
    const bytes = bytesOf(whole);
    for (const length of [1, 7, 100, 5_000]) {
      const splitter = createLineSplitter(100_000);
      const verifier = createBundleVerifier(options);
      for (let at = 0; at < bytes.length; at += length) {
        expect(splitter.push(bytes.subarray(at, at + length), (line) => verifier.line(line))).toBe("ok");
      }
      expect(verifier.end(splitter.rest)).toMatchObject({ level: "L1", entries: 12 });
    }
    const lines = whole.split("\n").slice(0, -1).map(bytesOf);
    expect(verifyBundle(lines, options)).toMatchObject({ level: "L1" });
  });

  it("has lines of bounded length", () => {
    const splitter = createLineSplitter(10);
    expect(splitter.push(bytesOf("0123456789\n"), () => undefined)).toBe("ok");
    expect(splitter.push(bytesOf("01234567890"), () => undefined)).toBe("too long");
    expect(splitter.push(bytesOf("\n"), () => undefined)).toBe("too long");
  });

  it("L2 needs the policy's witnesses", () => {
    const witness = witnessSigner("witness.example/w1", 11);
    const policy = makePolicy(1, [witness.key]) as Policy;
    const read = readCheckpointNote(log.checkpoint(12));
    const text = "malformed" in read ? "" : read.note.text;
    const checkpoint = log.checkpoint(12) + cosign(text, witness, 1_794_735_000);
    expect(verdictOf(whole, { policy })).toBe("WITNESSES_MISSING 12");
    expect(verdictOf(log.bundle({ from: 0, entries: 12, size: 12, checkpoint }), { policy })).toBe("L2");
  });
});

describe("A1: one bit", () => {
  it(`of an entry, at ${inputCount(1_000).toLocaleString("en")} places: found, and found where it is (seed ${seed})`, () => {
    const random = prng(seed);
    const bytes = bytesOf(whole);
    const head = bytes.length - bytesOf(linesOf(log.entries)).length;
    for (let round = 0; round < inputCount(1_000); round += 1) {
      const at = head + random.below(bytes.length - head);
      const flipped = bytes.slice();
      flipped[at] = (flipped[at] ?? 0) ^ (1 << random.below(8));
      const sequence = bytes.subarray(head, at).filter((byte) => byte === 0x0a).length;
      expect(verifyBundleFile(flipped, options)).toMatchObject({ fault: { sequence } });
    }
  });
});

describe("A8: the unanchored tail", () => {
  it("is counted, and what is cut off of it is not missed", () => {
    for (let tail = 4; tail >= 0; tail -= 1) {
      const verdict = verifyBundleFile(bytesOf(log.bundle({ from: 0, entries: 8 + tail, size: 8 })), options);
      expect(verdict).toMatchObject({ level: "L1", size: 8, unanchoredTail: tail });
    }
  });

  it("is still a chain, or it is refused", () => {
    const tailed = log.bundle({ from: 0, entries: 12, size: 8 });
    expect(verdictOf(tailed.replace('"step":10', '"step":11'))).toBe("HASH_MISMATCH 10");
  });
});

describe("what is no bundle", () => {
  const [, header = ""] = whole.split("\n");
  it.each([
    ["spaces in the header", header.replace(":", ": ")],
    ["a name twice", header.replace('"from":0', '"from":0,"from":0')],
    ["a name too much", header.replace('"from":0', '"extra":1,"from":0')],
    ["another order", header.replace('"entries":12,"from":0', '"from":0,"entries":12')],
    ["a fraction", header.replace('"from":0', '"from":0.0')],
    ["a negative zero", header.replace('"from":0', '"from":-0')],
    ["an exponent", header.replace('"entries":12', '"entries":12e0')],
    ["a negative count", header.replace('"entries":12', '"entries":-12')],
    ["a count past what can be counted", header.replace('"entries":12', '"entries":9007199254740993')],
    ["a number as text", header.replace('"entries":12', '"entries":"12"')],
    ["an escape that nobody needs", header.replace("portcullis", "\\u0070ortcullis")],
    ["no list", header.replace('"handovers":[]', '"handovers":{}')],
    ["a list of numbers", header.replace('"left":[]', '"left":[1]')],
    ["null", "null"],
    ["a list", "[]"],
    ["half of it", header.slice(0, 40)],
    ["nothing", ""],
  ])("with %s in its header", (_, other) => {
    expect(other).not.toBe(header);
    expect(verdictOf(whole.replace(header, () => other))).toBe("BUNDLE_MALFORMED 0");
  });

  it("bytes that are no UTF-8, in the header and in an entry", () => {
    const bytes = bytesOf(whole);
    const inHeader = bytes.slice();
    inHeader[60] = 0xff;
    expect(verdictOf(inHeader)).toBe("BUNDLE_MALFORMED 0");
    const inEntry = bytes.slice();
    inEntry[bytes.length - 100] = 0xff;
    expect(verdictOf(inEntry)).toBe("ENTRY_MALFORMED 11");
  });

  it("with something before, between or after its lines", () => {
    expect(verdictOf(`\ufeff${whole}`)).toBe("BUNDLE_MALFORMED 0");
    expect(verdictOf(`${whole}\n`)).toBe("BUNDLE_MALFORMED 0");
    expect(verdictOf(`${whole}x`)).toBe("BUNDLE_MALFORMED 0");
    expect(verdictOf(withEntries(whole, (lines) => [...lines, lines.at(-1) ?? ""]))).toBe("BUNDLE_MALFORMED 0");
    expect(verdictOf(withEntries(whole, (lines) => lines.toSpliced(4, 0, "")))).toBe("ENTRY_MALFORMED 4");
    expect(verdictOf(whole.replaceAll("\n", "\r\n"))).toBe("BUNDLE_MALFORMED 0");
  });

  it("a fault stays the answer", () => {
    const verifier = createBundleVerifier(options);
    const fault = verifier.line(bytesOf("hello"));
    expect(fault).toMatchObject({ fault: { code: "BUNDLE_MALFORMED" } });
    expect(verifier.line(bytesOf("portcullis-audit-bundle/v1"))).toBe(fault);
    expect(verifier.end()).toBe(fault);
  });
});

describe("a header that cannot be true", () => {
  function answerToHeader(bundle: string): unknown {
    const verifier = createBundleVerifier(options);
    const [first = "", header = ""] = bundle.split("\n");
    verifier.line(bytesOf(first));
    return verifier.line(bytesOf(header));
  }
  const malformed = { fault: { code: "BUNDLE_MALFORMED" } };

  it("is refused before any entry is read", () => {
    expect(answerToHeader(middle)).toBeUndefined();
    expect(answerToHeader(log.bundle({ from: 9, entries: 2, size: 8 }))).toMatchObject(malformed);
    const { right } = JSON.parse(middle.split("\n")[1] ?? "") as { right: string[] };
    expect(answerToHeader(withHeader(middle, { right: [...right, ...right] }))).toMatchObject(malformed);
    expect(answerToHeader(withHeader(middle, { handovers: ["x".repeat(4_200_000)] }))).toMatchObject(malformed);
  });
});

describe("any bytes", () => {
  it(`a mutated bundle never verifies as another one (seed ${seed})`, () => {
    const random = prng(seed);
    const codes = new Map<string, number>();
    for (const bundle of [whole, middle]) {
      const bytes = bytesOf(bundle);
      for (let round = 0; round < inputCount(500); round += 1) {
        const verdict = verifyBundleFile(mutated(bytes, random), options);
        const code = "fault" in verdict ? verdict.fault.code : "verified";
        codes.set(code, (codes.get(code) ?? 0) + 1);
        if (!("fault" in verdict)) expect(verdict.root).toBe(log.root(12));
      }
    }
    expect(codes.get("verified") ?? 0).toBe(0);
    expect([...codes.keys()]).toEqual(expect.arrayContaining(["BUNDLE_MALFORMED", "ENTRY_MALFORMED", "HASH_MISMATCH"]));
  });

  it(`random bytes are refused (seed ${seed})`, () => {
    const random = prng(seed);
    for (let round = 0; round < inputCount(500); round += 1) {
      const start = random.chance(0.5) ? bytesOf("portcullis-audit-bundle/v1\n") : new Uint8Array();
      const bytes = Uint8Array.from([...start, ...random.bytes(random.below(200))]);
      expect(verdictOf(bytes)).toBe("BUNDLE_MALFORMED 0");
    }
  });
});

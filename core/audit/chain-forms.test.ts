// One entry in every form that says the same and is not it: each has the hash of the canonical form, and each is refused by the chain.
import { hash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { decodeUtf8, utf8 } from "./canonical/canonical-json.ts";
import { type ChainFault, createChainCheck } from "./chain-check.ts";
import { makeEntry, readEntry, withoutHashes } from "./entry.ts";
import { hashRunLength } from "./entry-layout.ts";

const sha256 = (content: Uint8Array): string => hash("sha256", content, "binary");
const prevHash = "ab".repeat(32);
const fields = {
  sequence: 5,
  timestamp: "2026-11-15T09:30:00.000000Z",
  actor: "operator:Zoë",
  action: "order.decided",
  subject_id: "order-5",
  data: { a: 1, b: "x/y\n", c: [true, null], d: { e: 10 } },
  prev_hash: prevHash,
};
const entry = makeEntry(fields, sha256);
const text = decodeUtf8(entry.text);

function check(bytes: Uint8Array): ChainFault | undefined {
  return createChainCheck({ sha256, from: 5, prevHash }).next(bytes);
}

/** The hash over exactly these bytes, so that nothing but the form is wrong. */
function withItsHash(form: string): Uint8Array {
  const cut = form.indexOf(',"hash":"');
  const six = form.slice(0, cut) + form.slice(cut + hashRunLength);
  const digest = hash("sha256", prevHash + six, "hex");
  return utf8(form.replace(entry.hash, digest));
}

function changed(from: string, to: string): string {
  expect(text).toContain(from);
  return text.replace(from, () => to);
}

describe("the text of an entry", () => {
  it("is good as it was made", () => {
    expect(check(entry.text)).toBeUndefined();
    expect(withItsHash(text)).toEqual(entry.text);
  });

  it.each([
    ["keys in another order", '"a":1,"b":"x/y\\n"', '"b":"x/y\\n","a":1'],
    [
      "fields in another order",
      '"action":"order.decided","actor":"operator:Zoë"',
      '"actor":"operator:Zoë","action":"order.decided"',
    ],
    ["white space", '"a":1', '"a": 1'],
    ["a line end", '{"a":1', '{\n"a":1'],
    ["a key twice", '"a":1', '"a":1,"a":1'],
    ["1.0", '"a":1', '"a":1.0'],
    ["1e0", '"a":1', '"a":1e0'],
    ["1e1", '"e":10', '"e":1e1'],
    ["1e21", '"a":1', '"a":1e21'],
    ["-0", '"a":1', '"a":-0'],
    ["2^53 + 1", '"a":1', '"a":9007199254740993'],
    ["an escape without need", "x/y", "x\\/y"],
    ["a letter as an escape", "Zoë", "Zo\\u00eb"],
    ["a long escape", "x/y\\n", "x/y\\u000a"],
    ["an escaped lone surrogate", "x/y", "\\udead"],
    ["a field too much", '{"action"', '{"about":1,"action"'],
    ["a field too much at the end", '00Z"}', '00Z","z":1}'],
    ["a field too few", ',"subject_id":"order-5"', ""],
    ["data as a list", '{"a":1,"b":"x/y\\n","c":[true,null],"d":{"e":10}}', "[]"],
    ["data as null", '{"a":1,"b":"x/y\\n","c":[true,null],"d":{"e":10}}', "null"],
    ["an empty actor", '"operator:Zoë"', '""'],
    ["null as an actor", '"operator:Zoë"', "null"],
    ["a time without microseconds", "00.000000Z", "00Z"],
    ["another bracket at the end", '00Z"}', '00Z"]'],
    ["another mark at the end", '00Z"}', "00Z'}"],
    ["a day that does not exist", "2026-11-15", "2026-11-31"],
    ["day 0", "2026-11-15", "2026-11-00"],
    ["a leap day in another year", "2026-11-15", "2026-02-29"],
    ["hour 24", "T09:30", "T24:30"],
    ["minute 60", "T09:30", "T09:60"],
    ["second 60", ":00.000000Z", ":60.000000Z"],
    ["something behind", '00Z"}', '00Z"} '],
    ["a zero byte behind", '00Z"}', '00Z"}\u0000'],
  ])("A24 %s", (_, from, to) => {
    const form = withItsHash(changed(from, to));
    expect(check(form)).toMatchObject({ code: "ENTRY_MALFORMED", sequence: 5 });
    expect(readEntry(form)).toBeUndefined();
    const canonicalHash = utf8(changed(from, to));
    expect(check(canonicalHash)?.code).toBe("ENTRY_MALFORMED");
  });

  it("A24 letters that look the same are other letters", () => {
    expect(check(utf8(changed("Zoë", "Zoe\u0308")))).toMatchObject({ code: "HASH_MISMATCH", sequence: 5 });
  });

  it("A24 bytes that are no text", () => {
    for (const bytes of [[], [0], [0xff, 0xfe], [0x7b], [0x7b, 0x7d]]) {
      expect(check(Uint8Array.from(bytes))?.code).toBe("ENTRY_MALFORMED");
    }
    const surrogate = Buffer.from(entry.text);
    surrogate.set([0xed, 0xba], surrogate.indexOf("Zo"));
    expect(check(surrogate)?.code).toBe("ENTRY_MALFORMED");
    for (let cut = 1; cut < entry.text.length; cut += 1) {
      expect(check(entry.text.subarray(0, cut))?.code).toBe("ENTRY_MALFORMED");
    }
  });

  it("A25 the border between two fields cannot be moved", () => {
    const moved = makeEntry({ ...fields, actor: "operator:Zoëo", action: "rder.decided" }, sha256);
    expect(moved.hash).not.toBe(entry.hash);
    const smuggled = makeEntry({ ...fields, subject_id: '5","timestamp":"' }, sha256);
    expect(check(smuggled.text)).toBeUndefined();
    expect(readEntry(smuggled.text)?.subject_id).toBe('5","timestamp":"');
    const run = makeEntry({ ...fields, data: { x: ',"hash":"","prev_hash":"","sequence":9' } }, sha256);
    expect(check(run.text)).toBeUndefined();
    expect(decodeUtf8(withoutHashes(run.text) ?? run.text)).not.toContain(prevHash);
    const nested = makeEntry(
      { ...fields, data: { hash: entry.hash, prev_hash: prevHash, sequence: 9, subject_id: "x" } },
      sha256,
    );
    expect(check(nested.text)).toBeUndefined();
  });

  it.each([
    ["a number as text", '"sequence":5', '"sequence":"5"'],
    ["a number below zero", '"sequence":5', '"sequence":-5'],
    ["a leading zero", '"sequence":5', '"sequence":05'],
    ["a fraction", '"sequence":5', '"sequence":5.0'],
    ["a hash in capitals", entry.hash, entry.hash.toUpperCase()],
    ["a hash too short", entry.hash, entry.hash.slice(1)],
    ["a hash too long", entry.hash, `${entry.hash}0`],
    ["no hash", `"${entry.hash}"`, "null"],
    ["prev_hash in capitals", prevHash, prevHash.toUpperCase()],
    ["prev_hash too short", prevHash, prevHash.slice(2)],
    ["prev_hash too long", prevHash, `${prevHash}00`],
    ["a letter that is no digit", prevHash, `g${prevHash.slice(1)}`],
  ])("A26 %s", (_, from, to) => {
    expect(check(utf8(changed(from, to)))).toMatchObject({ code: "ENTRY_MALFORMED", sequence: 5 });
  });

  it("A26 every byte in the place of a hex digit", () => {
    for (const digits of [entry.hash, prevHash]) {
      const start = Buffer.from(entry.text).indexOf(digits);
      for (let byte = 0; byte < 256; byte += 1) {
        for (const at of [0, 1, 2, 3, 63]) {
          const bytes = Uint8Array.from(entry.text);
          if (bytes[start + at] === byte) continue;
          bytes[start + at] = byte;
          const isHex = /^[0-9a-f]$/.test(String.fromCharCode(byte));
          const code = check(bytes)?.code;
          if ((code === "ENTRY_MALFORMED") === isHex) expect.fail(`byte ${byte} at ${at}: ${code}`);
        }
      }
    }
  });

  it("A27 65,535 bytes are an entry, 65,536 are none", () => {
    const bare = makeEntry({ ...fields, data: { x: "" } }, sha256).text.length;
    const largest = makeEntry({ ...fields, data: { x: "a".repeat(65_535 - bare) } }, sha256);
    expect([largest.text.length, check(largest.text)]).toEqual([65_535, undefined]);
    const form = decodeUtf8(largest.text).replace('"x":"', '"x":"a');
    const cut = form.indexOf(',"hash":"');
    const digest = hash("sha256", prevHash + form.slice(0, cut) + form.slice(cut + hashRunLength), "hex");
    const larger = utf8(form.replace(largest.hash, digest));
    expect([larger.length, check(larger)?.code]).toEqual([65_536, "ENTRY_MALFORMED"]);
  });
});

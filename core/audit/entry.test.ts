// Entries: the frozen vectors of version 1, the limits of every field, and that what is made is what is read.
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { decodeUtf8, utf8, ValueRefused } from "./canonical/canonical-json.ts";
import { createScanRoom, fillRoom } from "./canonical/canonical-scan.ts";
import { type EntryFields, hashOfSix, makeEntry, readEntry, withHashes, withoutHashes } from "./entry.ts";
import { createFrontier } from "./frontier.ts";
import { type Genesis, genesisFault, makeGenesis } from "./genesis.ts";
import { hexOfHash, zeroHex } from "./hash.ts";
import { createTreeHash } from "./merkle.ts";
import { isTimestamp, scanTimestamp } from "./timestamp.ts";

const sha256 = (content: Uint8Array): string => hash("sha256", content, "binary");

interface Vectors {
  readonly genesis: Genesis & { timestamp: string };
  readonly entries: readonly { fields?: EntryFields; text: string; hash: string; leaf: string }[];
  readonly roots: readonly string[];
}
const vectors = JSON.parse(readFileSync(new URL("golden/entries-v1.json", import.meta.url), "utf8")) as Vectors;

const fields: EntryFields = {
  sequence: 7,
  timestamp: "2026-11-15T09:30:00.000000Z",
  actor: "operator:ada",
  action: "halt.requested",
  subject_id: "alpha",
  data: { reason: "drill" },
  prev_hash: "ab".repeat(32),
};
const made = (changes: Partial<Record<keyof EntryFields, unknown>>): (() => unknown) => {
  return () => makeEntry({ ...fields, ...changes } as EntryFields, sha256);
};

describe("entries of version 1", () => {
  it("are frozen: texts, hashes, leaves and roots", () => {
    const tree = createTreeHash(sha256);
    const frontier = createFrontier(tree);
    expect(hexOfHash(frontier.root())).toBe(vectors.roots[0]);
    expect(vectors.entries).toHaveLength(7);
    for (const [index, vector] of vectors.entries.entries()) {
      const entry =
        vector.fields === undefined ? makeGenesis(vectors.genesis, sha256) : makeEntry(vector.fields, sha256);
      expect(decodeUtf8(entry.text)).toBe(vector.text);
      expect(entry.hash).toBe(vector.hash);
      expect(hexOfHash(entry.leaf)).toBe(vector.leaf);
      frontier.append(tree.leaf(utf8(vector.text)));
      expect(hexOfHash(frontier.root())).toBe(vectors.roots[index + 1]);
    }
  });

  it("read as what they were made of, and split into six fields and back", () => {
    for (const { fields: from, text, hash: hex } of vectors.entries) {
      const bytes = utf8(text);
      const record = readEntry(bytes);
      expect(record).toEqual(JSON.parse(text));
      if (from !== undefined) expect(record).toEqual({ ...from, hash: hex });
      const six = withoutHashes(bytes) ?? new Uint8Array(0);
      const { hash: _, prev_hash: prev, ...rest } = JSON.parse(text) as Record<string, string>;
      expect(JSON.parse(decodeUtf8(six))).toEqual(rest);
      expect(hashOfSix(prev ?? "", six, sha256)).toBe(hex);
      expect(withHashes(six, hex, prev ?? "")).toEqual(bytes);
      expect(withHashes(bytes, hex, prev ?? "")).toBeUndefined();
      expect(withoutHashes(six)).toBeUndefined();
      expect(withHashes(six, hex.toUpperCase(), prev ?? "")).toBeUndefined();
      expect(withHashes(six, hex, "")).toBeUndefined();
    }
  });

  it("keep the limits of every field, in characters", () => {
    for (const [name, max] of [
      ["action", 128],
      ["actor", 256],
      ["subject_id", 256],
    ] as const) {
      for (const letter of ["a", "é", "\u{1F512}", "\n", '"', "\u0001"]) {
        const entry = makeEntry({ ...fields, [name]: letter.repeat(max) }, sha256);
        expect(readEntry(entry.text)?.[name]).toBe(letter.repeat(max));
        expect(made({ [name]: letter.repeat(max + 1) })).toThrow(ValueRefused);
        const long = decodeUtf8(entry.text).replace(`"${name}":"`, `"${name}":"a`);
        expect(readEntry(utf8(long)), name).toBeUndefined();
      }
      for (const wrong of ["", 5, null, undefined, "\udead", {}]) expect(made({ [name]: wrong })).toThrow(ValueRefused);
    }
    for (const sequence of [-1, 0.5, "5", 2 ** 53, Number.NaN, -0.5, 5n])
      expect(made({ sequence })).toThrow(ValueRefused);
    for (const data of [[], null, "a", undefined, { a: 2 ** 53 }, new Map()])
      expect(made({ data })).toThrow(ValueRefused);
    expect(made({ data: { a: [{ b: 2 ** 60 }] } })).toThrow("data.a[0].b: a whole number beyond");
    expect(made({ sequence: 0 })).toThrow("prev_hash: nothing comes before entry 0");
  });

  it("A26 take no hash of another form", () => {
    for (const wrong of ["", "AB".repeat(32), "ab".repeat(31), "ab".repeat(33), "zz".repeat(32), 5, null]) {
      expect(made({ prev_hash: wrong })).toThrow(ValueRefused);
    }
  });

  it("A27 have at most 65,535 bytes, counted as they are stored", () => {
    const bare = makeEntry({ ...fields, data: { x: "" } }, sha256).text.length;
    for (const letter of ["a", "é", "\u{1F512}", "\n"]) {
      const each = letter === "\n" ? 2 : utf8(letter).length;
      const count = Math.floor((65_535 - bare) / each);
      const fill = "b".repeat(65_535 - bare - count * each);
      const largest = makeEntry({ ...fields, data: { x: letter.repeat(count) + fill } }, sha256);
      expect(largest.text).toHaveLength(65_535);
      expect(readEntry(largest.text)?.hash).toBe(largest.hash);
      expect(made({ data: { x: `${letter.repeat(count) + fill}b` } })).toThrow(ValueRefused);
    }
    const text = decodeUtf8(makeEntry({ ...fields, data: { x: "a".repeat(65_535 - bare) } }, sha256).text);
    expect(readEntry(utf8(text.replace('"x":"', '"x":"a')))).toBeUndefined();
  });

  it("A24 have data of 32 levels and not of 33", () => {
    const nested = (levels: number): unknown => (levels === 1 ? {} : { a: nested(levels - 1) });
    const entry = makeEntry({ ...fields, data: nested(32) as Record<string, unknown> }, sha256);
    expect(readEntry(entry.text)).toBeDefined();
    expect(made({ data: nested(33) })).toThrow(ValueRefused);
    expect(readEntry(utf8(decodeUtf8(entry.text).replace("{}", '{"a":{}}')))).toBeUndefined();
  });

  it("A30 have times that exist, in one form", () => {
    const good = [
      "2026-11-15T09:30:00.000000Z",
      "2024-02-29T23:59:59.999999Z",
      "2000-02-29T00:00:00.000000Z",
      "9999-12-31T00:00:00.000000Z",
    ];
    const wrong = [
      "2026-11-15T09:30:00Z",
      "2026-11-15T09:30:00.000Z",
      "2026-11-15T09:30:00.000000+00:00",
      "2026-11-15 09:30:00.000000Z",
      "2026-11-15t09:30:00.000000Z",
      "2026-11-15T09:30:00.000000z",
      "2026-13-15T09:30:00.000000Z",
      "2026-00-15T09:30:00.000000Z",
      "2026-11-31T09:30:00.000000Z",
      "2026-11-00T09:30:00.000000Z",
      "2026-02-29T09:30:00.000000Z",
      "1900-02-29T09:30:00.000000Z",
      "2026-11-15T24:00:00.000000Z",
      "2026-11-15T09:60:00.000000Z",
      "2016-12-31T23:59:60.000000Z",
      "2026-11-15T09:30:00.00000aZ",
      "2026-11-15T09:30:00,000000Z",
      "٢026-11-15T09:30:00.000000Z",
      " 026-11-15T09:30:00.000000Z",
      "",
    ];
    for (const text of good) expect(isTimestamp(text), text).toBe(true);
    for (const text of wrong) {
      expect(isTimestamp(text), text).toBe(false);
      expect(made({ timestamp: text }), text).toThrow(ValueRefused);
    }
    const form = "2026-11-15T09:30:00.000000Z";
    const room = createScanRoom(form.length);
    const bytes = utf8(form);
    for (let at = 0; at < form.length; at += 1) {
      for (let code = 0; code < 256; code += 1) {
        const text = form.slice(0, at) + String.fromCharCode(code) + form.slice(at + 1);
        const isTime = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z$/.test(text);
        const isReal =
          isTime && !Number.isNaN(Date.parse(text)) && new Date(text).toISOString().slice(0, 19) === text.slice(0, 19);
        if (isTimestamp(text) !== isReal) expect.fail(text);
        bytes[at] = code;
        fillRoom(room, bytes, 0);
        if ((scanTimestamp(room, 0) === form.length) !== isReal) expect.fail(text);
        bytes[at] = form.charCodeAt(at);
      }
    }
  });
});

describe("entry 0", () => {
  const { genesis } = vectors;
  const first = readEntry(makeGenesis(genesis, sha256).text);

  it("says whose log it is", () => {
    expect(genesisFault(first, sha256)).toBeUndefined();
    expect(genesisFault(first, sha256, genesis.origin)).toBeUndefined();
    expect(first?.data).toMatchObject({ origin: genesis.origin, incarnation: genesis.incarnation, keys: genesis.keys });
    expect(genesisFault(first, sha256, "portcullis/audit/another")?.expected).toBe("origin portcullis/audit/another");
    expect(genesisFault(undefined, sha256)).toBeDefined();
  });

  it("is not made for a log that could be taken for another", () => {
    const [key = ""] = genesis.keys;
    const wrong: Partial<Genesis>[] = [
      { origin: "portcullis/audit", keys: [key.replace(genesis.origin, "portcullis/audit")] },
      { origin: "" },
      { origin: `a b/${genesis.incarnation}` },
      { origin: `a+b/${genesis.incarnation}` },
      { incarnation: "1" },
      { incarnation: genesis.incarnation.toUpperCase() },
      { keys: [] },
      { keys: [`x${key}`] },
      { keys: [key.slice(0, -1)] },
      { keys: Array.from({ length: 17 }, () => key) },
    ];
    for (const changes of wrong) expect(() => makeGenesis({ ...genesis, ...changes }, sha256)).toThrow(ValueRefused);
  });

  it("is nothing else", () => {
    if (first === undefined) throw new Error("no first entry");
    const { data } = first;
    const wrong = [
      { sequence: 1 },
      { prev_hash: "ab".repeat(32) },
      { action: "chain.begun" },
      { actor: "service:oms" },
      { subject_id: "portcullis" },
      { data: { ...data, format: "portcullis-audit/v2" } },
      { data: { ...data, hash: "sha-512" } },
      { data: { ...data, canonicalization: "none" } },
      { data: { ...data, extra: 1 } },
      { data: { ...data, keys: "none" } },
      { data: Object.fromEntries(Object.entries(data).filter(([name]) => name !== "keys")) },
      { data: { ...data, incarnation: 5 } },
      { data: { ...data, origin: 5 } },
    ];
    for (const changes of wrong) {
      expect(genesisFault({ ...first, ...changes }, sha256), JSON.stringify(changes)).toBeDefined();
    }
    expect(zeroHex).toBe(first.prev_hash);
  });
});

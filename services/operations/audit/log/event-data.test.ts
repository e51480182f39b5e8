// Payloads made fit for an entry: always accepted by the encoder, always the same, and recognisable.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson } from "../../../../core/audit/canonical/canonical-json.ts";
import { makeEntry, readEntry } from "../../../../core/audit/entry.ts";
import { sha256 } from "../../../../testkit/audit/keys.ts";
import { fitActor, fitPayload, fitSubjectId } from "./event-data.ts";

const seed = 5_005;

function entryOf(payload: unknown, subjectId: string, actor: string) {
  const fields = {
    sequence: 1,
    timestamp: "2026-11-15T09:30:00.000000Z",
    action: "a".repeat(128),
    prev_hash: "0".repeat(64),
  };
  const data = {
    at: "2026-11-15T09:30:00.000000Z",
    event_id: "e".repeat(512),
    payload,
    source: "oms",
    subject: "s".repeat(255),
    subject_previous: 1,
  };
  return makeEntry({ ...fields, actor, subject_id: subjectId, data }, sha256);
}

describe("fitPayload", () => {
  it("changes what an entry cannot hold, and nothing else", () => {
    const payload = {
      whole: 12,
      price: 1.5,
      tiny: 1e-7,
      huge: 2 ** 60,
      minus: -0,
      gone: undefined,
      list: [1, 0.25, null, true],
      text: "fünf",
      half: "a\ud800b",
    };
    expect(canonicalJson(fitPayload(payload, sha256))).toBe(
      canonicalJson({
        whole: 12,
        price: "1.5",
        tiny: "1e-7",
        huge: "1152921504606847000",
        minus: 0,
        list: [1, "0.25", null, true],
        text: "fünf",
        half: "a\\ud800b",
      }),
    );
  });

  it("cuts what is too long, with the digest of the whole", () => {
    const long = "x".repeat(10_000);
    expect(fitPayload({ long }, sha256)).toEqual({
      long: {
        cut: "x".repeat(256),
        length: 10_000,
        sha256: Buffer.from(sha256(Buffer.from(long)), "latin1").toString("hex"),
      },
    });
    const whole = fitPayload(
      Array.from({ length: 20 }, (_, n) => `${n}`.repeat(4_000)),
      sha256,
    );
    expect(whole).toMatchObject({ length: expect.any(Number), sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
    let deep: unknown = "bottom";
    for (let level = 0; level < 100; level += 1) deep = { deep };
    expect(canonicalJson(fitPayload(deep, sha256))).toContain('"cut"');
  });

  it("keeps a member named __proto__", () => {
    const payload: unknown = JSON.parse('{"__proto__":{"x":1.5}}');
    expect(canonicalJson(fitPayload(payload, sha256))).toBe('{"__proto__":{"x":"1.5"}}');
  });

  it(`makes an entry of anything, the same every time (seed ${seed})`, () => {
    const text = fc.string({ unit: "binary", maxLength: 280 });
    const anything = fc.oneof(
      fc.jsonValue({ stringUnit: "binary", maxDepth: 4 }),
      fc.dictionary(text, text, { maxKeys: 30 }),
    );
    const check = fc.property(anything, text, text, (payload, subjectId, actor) => {
      const parts = [fitPayload(payload, sha256), fitSubjectId(subjectId, sha256), fitActor(actor, sha256)] as const;
      const entry = entryOf(...parts);
      expect(readEntry(entry.text)).toBeDefined();
      expect(entryOf(fitPayload(structuredClone(payload), sha256), parts[1], parts[2]).hash).toBe(entry.hash);
    });
    fc.assert(check, { seed, numRuns: 20 });
  });

  it("shows what cannot be seen in a name, so that no two look alike", () => {
    const name = "operator:\u200bada\u0000\u{e0001} b\u00a0c \ud800 \u00e9\u{1f600}";
    const shown = "operator:\\u200bada\\u0000\\u{e0001} b\\u00a0c \\ud800 \u00e9\u{1f600}";
    expect(fitSubjectId(name, sha256)).toBe(shown);
    expect(fitActor(name, sha256)).toBe(shown);
    expect(fitPayload({ name: "a\u200b" }, sha256)).toEqual({ name: "a\u200b" });
  });

  it("never takes two long subjects for one", () => {
    const [one, two] = ["1", "2"].map((end) => fitSubjectId(`${"s".repeat(400)}${end}`, sha256));
    expect(one).not.toBe(two);
    expect(one?.length).toBeLessThanOrEqual(256);
    expect(fitSubjectId("", sha256)).toBe("unknown");
  });
});

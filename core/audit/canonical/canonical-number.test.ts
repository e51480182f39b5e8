// Numbers in RFC 8785's form: as the RFC's own table has them, as whole-number arithmetic works them out, and the same to both readers and both writers.
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rawBundle } from "../../../testkit/audit/attacks/texts.ts";
import { numberText } from "../../../testkit/audit/number-oracle.ts";
import { loadVerifier } from "../../../testkit/audit/run-attack.ts";
import { nowS } from "../../../testkit/audit/test-log.ts";
import { countOf, inputCount } from "../../../testkit/full-count.ts";
import { canonicalJson, hasNumberText, utf8, ValueRefused } from "./canonical-json.ts";
import { isCanonicalJson } from "./canonical-scan.ts";
import { createPlainWriter } from "./plain-json.ts";

interface NumberVector {
  readonly ieee: string;
  readonly text: string;
  readonly refused?: true;
}
const { numbers } = JSON.parse(readFileSync(new URL("../golden/rfc8785.json", import.meta.url), "utf8")) as {
  readonly numbers: readonly NumberVector[];
};
const verifier = await loadVerifier();
const seed = 20_261_122;
const room = new Uint8Array(70_000);
const writer = createPlainWriter();
writer.setRoom(room, room.length);

function plainText(value: unknown): string | undefined {
  const at = writer.value(value, 0);
  return at < 0 ? undefined : Buffer.from(room.subarray(0, at)).toString("utf8");
}

async function offlineSays(data: string): Promise<unknown> {
  const { verdict, code } = await verifier.verifyBytes(rawBundle({ data: Buffer.from(data) }), { nowS });
  return code ?? verdict;
}

/** Any 64 bits, so that every exponent is as likely as another; and numbers as people write them. */
const anyNumber = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc
    .tuple(fc.integer({ min: -999_999_999, max: 999_999_999 }), fc.integer({ min: 0, max: 12 }))
    .map(([digits, places]) => Number(`${digits}e-${places}`)),
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map((bits) => {
    const view = new DataView(new ArrayBuffer(8));
    view.setBigUint64(0, bits);
    return view.getFloat64(0);
  }),
);

describe(`22.8: numbers (seed ${seed})`, () => {
  it.each(numbers)("RFC 8785, appendix B: $ieee is $text", async ({ ieee, text, refused }) => {
    const value = Buffer.from(ieee, "hex").readDoubleBE();
    if (Number.isFinite(value)) expect(numberText(value)).toBe(text);
    if (refused === true) {
      expect(() => canonicalJson(value)).toThrow(ValueRefused);
      expect(plainText(value)).toBeUndefined();
      expect(isCanonicalJson(utf8(text))).toBe(false);
      expect(await offlineSays(`{"n":${text}}`)).toBe("ENTRY_MALFORMED");
      return;
    }
    expect(canonicalJson(value)).toBe(text);
    expect(plainText(value)).toBe(text);
    expect(isCanonicalJson(utf8(text))).toBe(true);
    expect(await offlineSays(`{"n":${text}}`)).toBe("yes");
  });

  it("are written as whole-number arithmetic works them out, or refused, by both writers", () => {
    const judge = (value: number): void => {
      if (!hasNumberText(value)) {
        expect(() => canonicalJson({ value })).toThrow(ValueRefused);
        return;
      }
      const text = numberText(value);
      expect([canonicalJson(value), plainText(value)]).toEqual([text, text]);
      expect(isCanonicalJson(utf8(text))).toBe(true);
      expect(JSON.parse(text)).toBe(value === 0 ? 0 : value);
    };
    fc.assert(fc.property(anyNumber, judge), { seed, numRuns: countOf(600, 150) });
  });

  it("say why one is refused", () => {
    const why = (value: number): string => {
      try {
        return canonicalJson({ id: [value] });
      } catch (thrown) {
        return thrown instanceof ValueRefused ? thrown.message : String(thrown);
      }
    };
    const lost = "id[0]: a whole number beyond 9007199254740991 (2^53 - 1) may have lost digits: send it as text";
    for (const value of [2 ** 53, -(2 ** 53), 2 ** 64, 999_999_999_999_999_900_000]) expect(why(value)).toBe(lost);
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])
      expect(why(value)).toBe("id[0]: not a finite number");
    expect([why(2 ** 53 - 1), why(1e21), why(-0)]).toEqual([
      '{"id":[9007199254740991]}',
      '{"id":[1e+21]}',
      '{"id":[0]}',
    ]);
  });
});

/** Whatever JSON.parse gives, but for whole numbers that look exact and may not be. */
const anyObject = fc
  .dictionary(
    fc.oneof(fc.string({ unit: "binary", maxLength: 8 }), fc.constantFrom("__proto__", "toJSON", "")),
    fc.jsonValue({ maxDepth: 4, stringUnit: "binary" }),
    { maxKeys: 5 },
  )
  .map((value) => JSON.stringify(value))
  .filter((text) => !hasRefused(JSON.parse(text)));

function hasRefused(value: unknown): boolean {
  if (typeof value === "number") return !hasNumberText(value);
  return typeof value === "object" && value !== null && Object.values(value).some(hasRefused);
}

describe("22.8: any object that JSON.parse gives", () => {
  it(`round-trips and is canonical to both verifiers, and no text of it with another number is (seed ${seed})`, async () => {
    const judge = async (text: string): Promise<void> => {
      const canonical = canonicalJson(JSON.parse(text));
      expect(canonicalJson(JSON.parse(canonical))).toBe(canonical);
      // Negative zero becomes zero; everything else is what it was.
      expect(JSON.parse(canonical)).toEqual(JSON.parse(text.replaceAll(/(?<=[[:,])-0(?=[,}\]])/g, "0")));
      expect(isCanonicalJson(utf8(canonical))).toBe(true);
      expect(await offlineSays(canonical)).toBe("yes");
    };
    await fc.assert(fc.asyncProperty(anyObject, judge), { seed, numRuns: 150 });
  });

  it(`judge every text of number characters alike (seed ${seed})`, async () => {
    const characters = fc.array(fc.constantFrom(..."0123456789.e+-"), { minLength: 1, maxLength: 8 });
    const near = fc.tuple(anyNumber, fc.nat(20), fc.constantFrom(..."019.e+-")).map(([value, at, put]) => {
      const text = String(value);
      return `${text.slice(0, at)}${put}${text.slice(at)}`;
    });
    const judge = async (text: string): Promise<void> => {
      const isCanonical = isCanonicalJson(utf8(text));
      expect([text, await offlineSays(`{"n":${text}}`)]).toEqual([text, isCanonical ? "yes" : "ENTRY_MALFORMED"]);
      if (isCanonical) expect(canonicalJson(JSON.parse(text))).toBe(text);
    };
    const texts = fc.oneof(
      characters.map((each) => each.join("")),
      near,
    );
    await fc.assert(fc.asyncProperty(texts, judge), { seed, numRuns: inputCount(300) });
  });
});

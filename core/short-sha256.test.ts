// The hash of short texts against Node's own, and an order's hashes against its text's.
import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { systemSha256Binary } from "../adapters/system-hashing.ts";
import { Order } from "../contracts/src/generated/svc/v1/order.ts";
import { fieldDenial } from "./gates/schema-fields.ts";
import { bodyText, bytesOfHash, createOrderHasher, hashOfBytes } from "./order-hash.ts";
import { createShortSha256 } from "./short-sha256.ts";
import { idRest, inAscii, inLine, symbolRest, writeText } from "./text-kinds.ts";

const short = createShortSha256();

function hexOf(text: string): string {
  writeText(short.content, 0, text);
  short.hash(text.length);
  return Array.from(short.words, (word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
}

function nodeHash(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

test("every length that is taken gives Node's hash", () => {
  for (let length = 0; length <= 503; length += 1) {
    const text = "The quick brown fox jumps over the lazy dog. ".repeat(12).slice(0, length);
    expect(hexOf(text), String(length)).toBe(nodeHash(text).toString("hex"));
  }
});

test("a text is written as its bytes and judged, and what is no ASCII text is of no kind", () => {
  const bytes = new Uint8Array(8).fill(1);
  expect(writeText(bytes, 2, "aZ-") & (inAscii | idRest | symbolRest)).toBe(inAscii | idRest);
  expect([...bytes]).toEqual([1, 1, 97, 90, 45, 1, 1, 1]);
  expect(writeText(bytes, 0, "\u0000") & (inAscii | inLine)).toBe(inAscii);
  for (const text of ["\u0080", "a\u00fcb", "\u0141", "\u{1f600}", undefined, 7])
    expect(writeText(bytes, 0, text)).toBe(0);
});

test("an order's hashes are the first bytes of SHA-256 of its key and of its text, whatever it says", () => {
  // Mostly short ASCII, so that most orders are hashed here and not by the library.
  const texts = fc.oneof(
    { weight: 60, arbitrary: fc.string({ unit: "binary-ascii", maxLength: 12 }) },
    { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 12 }) },
    { weight: 1, arbitrary: fc.string({ minLength: 120, maxLength: 140 }) },
  );
  const optional = fc.option(texts, { nil: undefined });
  const orders = fc
    .record({
      idempotency_key: texts,
      order_id: texts,
      fund_id: texts,
      strategy_id: texts,
      symbol: texts,
      side: texts,
      quantity: texts,
      order_type: texts,
      tif: texts,
      broker: texts,
      asset_class: texts,
      actor: texts,
      limit_price: optional,
      stop_price: optional,
      expires_at: optional,
      notional: fc.option(fc.double(), { nil: undefined }),
      venue: optional,
      currency: optional,
      thesis: optional,
      reduce_only: fc.option(fc.boolean(), { nil: undefined }),
      created_at: optional,
    })
    .map((fields): Order => ({ ...Order.decode(new Uint8Array()), ...fields }));
  const hasher = createOrderHasher(systemSha256Binary);
  fc.assert(
    fc.property(orders, (order) => {
      const { key, body } = hasher.read(order);
      expect(Buffer.from(bytesOfHash(key))).toEqual(nodeHash(order.idempotency_key).subarray(0, 16));
      expect(Buffer.from(bytesOfHash(body))).toEqual(nodeHash(bodyText(order)).subarray(0, 16));
      expect(hashOfBytes(bytesOfHash(body))).toEqual(body);
    }),
    { seed: 48, numRuns: 150 },
  );
});

test("what the bytes say about an order's characters is what the schema gate finds in its texts", () => {
  const hasher = createOrderHasher(systemSha256Binary);
  const ordinary: Order = {
    ...Order.decode(new Uint8Array()),
    idempotency_key: "key 1",
    order_id: "o-1",
    fund_id: "alpha",
    strategy_id: "alpha-a",
    symbol: "ABC",
    side: "BUY",
    quantity: "1",
    order_type: "MARKET",
    tif: "DAY",
    broker: "paper",
    asset_class: "EQUITY",
    actor: "somebody",
  };
  expect(hasher.read(ordinary).textsFit).toBe(true);
  const fields = ["idempotency_key", "order_id", "fund_id", "strategy_id", "symbol", "broker", "actor"] as const;
  for (const field of fields) {
    for (let code = 0; code < 0x80; code += 1) {
      const character = String.fromCharCode(code);
      for (const text of [character, `A${character}`, `${character}A`, `A${character}A`]) {
        const order = { ...ordinary, [field]: text };
        const { textsFit } = hasher.read(order);
        expect(fieldDenial(order, undefined) === undefined, `${field} ${JSON.stringify(text)}`).toBe(textsFit);
        if (textsFit) expect(fieldDenial(order, textsFit)).toBeUndefined();
      }
    }
  }
});

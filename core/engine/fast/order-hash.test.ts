// What an order's hashes say: the same for the same order, another for any other, here and by the library; and what else one look at its
// texts tells.
import { blake3 } from "@noble/hashes/blake3.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { systemBlake3 } from "../../../adapters/system/hashing.ts";
import { Order } from "../../../contracts/src/generated/svc/v1/order.ts";
import { inputCount } from "../../../testkit/full-count.ts";
import { fieldDenial } from "../../gates/schema-fields.ts";
import { hashOfId } from "../../state/id-table.ts";
import { bodyText, bytesOfHash, createOrderHasher, hashOfBytes, namesOf } from "./order-hash.ts";

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
const hasher = createOrderHasher(systemBlake3);
const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
/** As it is stored: the kind before the hash. */
const storedOf = (content: string | Uint8Array): string =>
  `03${hexOf(blake3(typeof content === "string" ? Buffer.from(content) : content).subarray(0, 16))}`;
const keyOf = (order: Order): string => hexOf(bytesOfHash(hasher.read(order).key));
const bodyOf = (order: Order): string => hexOf(bytesOfHash(hasher.read(order).body));

describe("an order's hashes", () => {
  it("are the first bytes of BLAKE3 of its key and of its body", () => {
    expect(keyOf(ordinary)).toBe(storedOf("key 1"));
    const order = { ...ordinary, side: "SELL", order_type: "LIMIT", limit_price: "10.5", reduce_only: true };
    const texts = "o-1alphaalpha-aABC1papersomebody";
    const body = [3, 5, 7, 3, 1, 5, 8, 0x12, 0x11, ...Buffer.from(`${texts}l\u000410.5r\u0004true`)];
    expect(bodyOf(order)).toBe(storedOf(Uint8Array.from(body)));
    const long = { ...ordinary, thesis: "t".repeat(300) };
    const head = [3, 5, 7, 3, 1, 5, 8, 0x21, 0x11, ...Buffer.from(`${texts}t`), 0x81, 300 - 256];
    expect(bodyOf(long)).toBe(storedOf(Uint8Array.from([...head, ...Buffer.from("t".repeat(300))])));
  });

  it("are the library's where they are not made here: what is long, not ASCII or no known word", () => {
    for (const key of ["\u00fc", "k".repeat(513), "\ud800"]) {
      expect(keyOf({ ...ordinary, idempotency_key: key })).toBe(storedOf(key));
    }
    const others: Partial<Order>[] = [
      { order_id: "o".repeat(128) },
      { actor: "\u00e9" },
      { side: "HOLD" },
      { thesis: "t".repeat(600) },
      { quantity: 7 as never },
    ];
    for (const different of others) {
      const order = { ...ordinary, ...different };
      expect(bodyOf(order)).toBe(storedOf(bodyText(order)));
    }
  });

  it("differ whenever a field does, whatever it says, and only then", () => {
    const texts = fc.oneof(
      { weight: 20, arbitrary: fc.constantFrom("", "a", "ab", "b", "1", "l1:1", "BUY", "SELL", "LIMIT", "DAY") },
      { weight: 2, arbitrary: fc.string({ unit: "binary-ascii", maxLength: 4 }) },
      { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 4 }) },
    );
    const optional = fc.option(texts, { nil: undefined });
    const orders = fc
      .record({
        order_id: texts,
        fund_id: texts,
        strategy_id: texts,
        symbol: texts,
        side: fc.constantFrom("BUY", "SELL", "SELL_SHORT", "BUY_TO_COVER", "", "HOLD"),
        quantity: texts,
        order_type: fc.constantFrom("LIMIT", "MARKET", "STOP", "STOP_LIMIT"),
        tif: fc.constantFrom("DAY", "GTC", "IOC", "FOK", "GTD"),
        broker: texts,
        asset_class: fc.constantFrom("EQUITY", "CRYPTO", "OPTION"),
        actor: texts,
        limit_price: optional,
        stop_price: optional,
        expires_at: optional,
        notional: fc.constantFrom(undefined, 0, 1, 11, Number.NaN, Number.POSITIVE_INFINITY),
        venue: optional,
        currency: optional,
        thesis: optional,
        reduce_only: fc.constantFrom(undefined, true, false),
        created_at: optional,
      })
      .map((fields): Order => ({ ...Order.decode(new Uint8Array()), ...fields }));
    const known = new Map<string, string>();
    fc.assert(
      fc.property(orders, (order) => {
        const body = bodyOf(order);
        expect(bodyOf({ ...order, dry_run: true, idempotency_key: "another" })).toBe(body);
        const text = bodyText(order);
        expect(known.get(body) ?? text).toBe(text);
        known.set(body, text);
      }),
      { seed: 48, numRuns: inputCount(3_000) },
    );
    // Every field by itself, too.
    const changed: readonly (keyof Order)[] = [
      ...(["order_id", "fund_id", "strategy_id", "symbol", "quantity", "broker", "actor", "limit_price"] as const),
      ...(["stop_price", "expires_at", "venue", "currency", "thesis", "created_at"] as const),
    ];
    const bodies = changed.map((field) => bodyOf({ ...ordinary, [field]: "7" }));
    expect(new Set([...bodies, bodyOf(ordinary)]).size).toBe(changed.length + 1);
  });

  it("are stored with their kind, and what an earlier version stored is known for it", () => {
    const { key } = hasher.read(ordinary);
    expect(hashOfBytes(bytesOfHash(key))).toEqual(key);
    expect(hashOfBytes(bytesOfHash(key).subarray(1))).toBeUndefined();
    expect(hashOfBytes(Uint8Array.from(bytesOfHash(key)).fill(1, 0, 1))).toBeUndefined();
  });
});

describe("one look at an order", () => {
  it("finds the numbers under which the books keep what it names", () => {
    const { order_id, strategy_id, symbol } = ordinary;
    const names = { orderId: hashOfId(order_id), strategyId: hashOfId(strategy_id), symbol: hashOfId(symbol) };
    expect(hasher.read(ordinary).names).toEqual(names);
    expect(hasher.read({ ...ordinary, actor: "\u00e9" }).names).toEqual(names);
    expect(namesOf({ ...ordinary, symbol: undefined as never }).symbol).toBe(0);
  });

  it("says about its characters what the schema gate finds in its texts", () => {
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
});

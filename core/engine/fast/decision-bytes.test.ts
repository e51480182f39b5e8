// The bytes of a decision against those of the generated codec, over random orders from a printed seed and over every odd text and number.
import { describe, expect, it } from "vitest";
import type { Decimal } from "../../../contracts/src/decimal.ts";
import * as decimal from "../../../contracts/src/decimal.ts";
import { Figure, type Order, RiskDecision } from "../../../contracts/src/generated/svc/v1/order.ts";
import { inputCount } from "../../../testkit/full-count.ts";
import { engineFixture, hold, moment, orderOf } from "../../../testkit/risk/engine-fixture.ts";
import { type Prng, prng } from "../../../testkit/virtual/prng.ts";
import type { Exact } from "../../money/exact.ts";
import { decisionMessage } from "../decision.ts";
import type { Checked } from "../engine.ts";
import { createDecisionPacker } from "./decision-bytes.ts";
import { createWireWriter } from "./wire-writer.ts";

const seed = 20_261_115;
const packer = createDecisionPacker();

function expectSameBytes(checked: Checked, decisionId: string): void {
  const expected = RiskDecision.encode(decisionMessage(checked, decisionId)).finish();
  expect([...packer.pack(checked, decisionId)]).toEqual([...expected]);
}

describe("the bytes of a decision", () => {
  it(`are those of the generated codec, for any order (seed ${seed})`, () => {
    const random = prng(seed);
    const engine = engineFixture(
      { max_position_pct: 0.9, repeated_execution_max: 50 },
      { stopwatch: () => random.word() / 1_000_003 },
    );
    hold(engine, "alpha", "AAPL", "1234.5");
    hold(engine, "alpha", "XOM", "-77");
    hold(engine, "gamma", "SAP", "0.123456789");
    const codes = new Set<string>();
    let warned = 0;
    for (let index = 0; index < inputCount(400); index += 1) {
      const checked = engine.check(anyOrder(random, index), moment(index * 10));
      codes.add(checked.code);
      warned += decisionMessage(checked, "d").warnings.length;
      expectSameBytes(checked, index % 7 === 0 ? "" : `decision-${index}`);
    }
    expect(codes.size).toBeGreaterThan(8);
    expect(warned).toBeGreaterThan(20);
  });

  it.each([
    ["letters of every width", "Zoë → 東京 🚪"],
    ["half a pair", "a\ud83db\ude00c"],
    ["a text that needs a length of three bytes", "x".repeat(20_000)],
    ["a text of wide letters at the end of the buffer", "é".repeat(9_000)],
  ])("hold %s", (_, text) => {
    const engine = engineFixture();
    expectSameBytes(engine.check(orderOf(text, { fund_id: text, actor: text }), moment(0)), text);
  });

  it("are refused after the next check", () => {
    const engine = engineFixture();
    const first = engine.check(orderOf("a"), moment(0));
    engine.check(orderOf("b"), moment(1));
    expect(() => packer.pack(first, "d")).toThrow(/written over/);
  });
});

describe("the figures", () => {
  const writer = createWireWriter();
  const bytesOf = (write: () => void): number[] => {
    writer.reset();
    write();
    return [...writer.take()];
  };
  const figureBytes = (value: string): number[] => [...Figure.encode({ name: "", value }).finish()];

  it(`are written as decimals are formatted (seed ${seed})`, () => {
    const random = prng(seed);
    const odd = [
      0n,
      1n,
      -1n,
      10n ** 10n,
      10n ** 18n,
      -(10n ** 18n),
      9_007_199_254_740_991n * 10n ** 10n,
      decimal.largest,
    ];
    for (let index = 0; index < inputCount(3_000); index += 1) odd.push(anyInteger(random));
    for (const value of odd as Decimal[]) {
      expect(bytesOf(() => writer.decimal(18, value))).toEqual(figureBytes(decimal.format(value)));
    }
  });

  it(`are rounded up to the cent where they are products (seed ${seed})`, () => {
    const random = prng(seed);
    const odd = [0n, 1n, -1n, 10n ** 34n, 10n ** 34n + 1n, -(10n ** 36n), 10n ** 56n];
    for (let index = 0; index < inputCount(3_000); index += 1)
      odd.push(anyInteger(random) * 10n ** BigInt(random.below(19)));
    for (const value of odd) {
      const magnitude = value < 0n ? -value : value;
      const cents = (magnitude + 10n ** 34n - 1n) / 10n ** 34n;
      const text = `${value < 0n ? "-" : ""}${cents / 100n}.${String(cents % 100n).padStart(2, "0")}`;
      expect(bytesOf(() => writer.cents(18, value as Exact))).toEqual(figureBytes(text));
    }
  });
});

function anyInteger(random: Prng): bigint {
  const digits = 1 + random.below(38);
  let value = 0n;
  for (let index = 0; index < digits; index += 1) value = value * 10n + BigInt(random.below(10));
  // Round amounts are the common ones.
  const round = 10n ** BigInt(random.below(digits + 1));
  const whole = (value / round) * round;
  return random.chance(0.5) ? whole : -whole;
}

function pick(random: Prng, words: readonly string[]): string {
  return words[random.below(words.length)] ?? "";
}

function anyOrder(random: Prng, index: number): Order {
  const symbol = pick(random, ["AAPL", "MSFT", "XOM", "BTC-USD", "SPY-C500", "SAP", "NOBODY"]);
  const fund = pick(random, ["alpha", "alpha", "beta", "gamma", "nobody"]);
  const strategies: Readonly<Record<string, string>> = { alpha: "trend", beta: "coins", gamma: "euro", nobody: "none" };
  const limited = random.chance(0.5);
  return orderOf(`o${index}`, {
    idempotency_key: `key-${random.chance(0.1) ? 0 : index}`,
    fund_id: fund,
    strategy_id: strategies[fund] ?? "",
    symbol,
    asset_class: symbol === "BTC-USD" ? "CRYPTO" : symbol === "SPY-C500" ? "OPTION" : "EQUITY",
    side: pick(random, ["BUY", "SELL", "SELL_SHORT", "BUY_TO_COVER"]),
    quantity: pick(random, ["1", "10", "250", "1234.5", "3000", "x"]),
    order_type: limited ? "LIMIT" : "MARKET",
    ...(limited && { limit_price: pick(random, ["100", "199.99", "205.5", "50001"]) }),
    ...(random.chance(0.1) && { dry_run: true }),
  });
}

// Exact decimals against a decimal library as the oracle, and against every kind of bad input.
import { Decimal as Oracle } from "decimal.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { inputCount } from "../../testkit/full-count.ts";
import * as decimal from "./decimal.ts";

const Precise = Oracle.clone({ precision: 80, toExpNeg: -40, toExpPos: 60 });
const oracleRounding = {
  down: Oracle.ROUND_DOWN,
  up: Oracle.ROUND_UP,
  floor: Oracle.ROUND_FLOOR,
  ceiling: Oracle.ROUND_CEIL,
  "half-even": Oracle.ROUND_HALF_EVEN,
  "half-up": Oracle.ROUND_HALF_UP,
} as const satisfies Record<decimal.Rounding, Oracle.Rounding>;
const roundings = Object.keys(oracleRounding) as decimal.Rounding[];

const rounding = fc.constantFrom(...roundings);
/** Any decimal within `digits` integer digits, with short ones and ties at the last place made likely. */
const decimalOf = (integerDigits: number): fc.Arbitrary<decimal.Decimal> => {
  const bound = 10n ** BigInt(integerDigits + 18) - 1n;
  return fc.oneof(
    fc.bigInt({ min: -bound, max: bound }).map((value) => value as decimal.Decimal),
    fc.bigInt({ min: -2_000n, max: 2_000n }).map((value) => value as decimal.Decimal),
    fc.bigInt({ min: -9_999_999n, max: 9_999_999n }).map((value) => (value * 10n ** 15n) as decimal.Decimal),
  );
};
const seed = Number(process.env["PORTCULLIS_SEED"] ?? "20261115");
const runs = { seed, numRuns: inputCount(2_000) };

function oracle(value: decimal.Decimal): Oracle {
  return new Precise(value.toString()).div(new Precise(10).pow(18));
}

function reasonOf(run: () => unknown): string {
  try {
    run();
  } catch (thrown) {
    if (thrown instanceof decimal.DecimalError) return thrown.reason;
    throw thrown;
  }
  return "no error";
}

describe(`against the oracle (seed ${seed})`, () => {
  test("invariant 2: addition, subtraction, comparison, sign and absolute value are exact", () => {
    fc.assert(
      fc.property(decimalOf(19), decimalOf(19), (a, b) => {
        expect(decimal.format(decimal.add(a, b))).toBe(oracle(a).plus(oracle(b)).toFixed());
        expect(decimal.format(decimal.subtract(a, b))).toBe(oracle(a).minus(oracle(b)).toFixed());
        expect(decimal.compare(a, b)).toBe(oracle(a).cmp(oracle(b)));
        expect(a < b).toBe(oracle(a).lt(oracle(b)));
        expect(decimal.format(decimal.abs(a))).toBe(oracle(a).abs().toFixed());
        expect(decimal.add(a, decimal.negate(a))).toBe(decimal.zero);
        expect(decimal.sign(a)).toBe(a === 0n ? 0 : oracle(a).isNegative() ? -1 : 1);
        expect(decimal.max(a, b)).toBe(decimal.compare(a, b) < 0 ? b : a);
        expect(decimal.min(a, b)).toBe(decimal.compare(a, b) < 0 ? a : b);
      }),
      runs,
    );
  });

  test("invariant 2: multiplication rounds as named", () => {
    fc.assert(
      fc.property(decimalOf(9), decimalOf(9), rounding, (a, b, how) => {
        const wanted = oracle(a).times(oracle(b)).toDecimalPlaces(18, oracleRounding[how]);
        expect(decimal.format(decimal.multiply(a, b, how))).toBe(wanted.plus(0).toFixed());
      }),
      runs,
    );
  });

  test("invariant 2: division rounds as named", () => {
    fc.assert(
      fc.property(decimalOf(10), decimalOf(10), rounding, (a, b, how) => {
        fc.pre(b !== 0n && (a < 0n ? -a : a) / (b < 0n ? -b : b) < 10n ** 20n);
        // Both are integers times 10^-18: their exact quotient decides, so the oracle divides the integers.
        const [dividend, divisor] = [new Precise((a * 10n ** 18n).toString()), new Precise(b.toString())];
        const wanted = dividend.div(divisor).toDecimalPlaces(0, oracleRounding[how]);
        expect(BigInt(decimal.divide(a, b, how)).toString()).toBe(wanted.plus(0).toFixed());
      }),
      runs,
    );
  });

  test("rounding to places, to increments and to fixed text", () => {
    const increments = fc.constantFrom("0.01", "0.05", "0.25", "1", "100", "0.000001", "3").map(decimal.parse);
    fc.assert(
      fc.property(decimalOf(12), fc.integer({ min: 0, max: 18 }), increments, rounding, (a, places, increment, how) => {
        const wanted = oracle(a).toDecimalPlaces(places, oracleRounding[how]).plus(0);
        expect(decimal.format(decimal.round(a, places, how))).toBe(wanted.toFixed());
        expect(decimal.formatFixed(a, places, how)).toBe(wanted.toFixed(places));
        const onGrid = decimal.roundToIncrement(a, increment, how);
        expect(decimal.isMultipleOf(onGrid, increment)).toBe(true);
        expect(decimal.format(onGrid)).toBe(
          oracle(a)
            .div(oracle(increment))
            .toDecimalPlaces(0, oracleRounding[how])
            .times(oracle(increment))
            .plus(0)
            .toFixed(),
        );
        expect(decimal.isMultipleOf(a, increment)).toBe(onGrid === a);
      }),
      runs,
    );
  });

  test("invariant 4: text and value convert into each other", () => {
    fc.assert(
      fc.property(decimalOf(20), (a) => {
        const text = decimal.format(a);
        expect(decimal.parse(text)).toBe(a);
        expect(text).toBe(oracle(a).toFixed());
        expect(text).not.toMatch(/\.$|\.\d*0$|^-0$/);
        expect(decimal.parse(decimal.formatFixed(a, 18, "down"))).toBe(a);
      }),
      runs,
    );
  });

  test("invariant 3: random text is accepted exactly when the grammar accepts it", () => {
    const grammar = /^-?(0|[1-9][0-9]{0,19})(\.[0-9]{1,18})?$/;
    const characters = fc.constantFrom(
      ..."0123456789",
      "0",
      "1",
      ".",
      "-",
      "+",
      "e",
      "E",
      " ",
      "_",
      ",",
      "٣",
      "１",
      "\u0000",
    );
    fc.assert(
      fc.property(fc.string({ unit: characters, maxLength: 45 }), (text) => {
        expect(decimal.isDecimalText(text)).toBe(grammar.test(text));
        if (grammar.test(text)) expect(decimal.format(decimal.parse(text))).toBe(new Precise(text).plus(0).toFixed());
      }),
      { seed, numRuns: inputCount(10_000) },
    );
  });

  test("numbers convert through their shortest text and back", () => {
    fc.assert(
      fc.property(fc.double({ min: -1e15, max: 1e15, noNaN: true }), (number) => {
        const text = new Precise(number).toFixed();
        if ((text.split(".")[1] ?? "").length > 18) {
          expect(reasonOf(() => decimal.fromNumber(number))).toBe("too precise");
          return;
        }
        const value = decimal.fromNumber(number);
        expect(decimal.format(value)).toBe(new Precise(number).plus(0).toFixed());
        expect(decimal.toNumber(value)).toBe(number + 0);
      }),
      { seed, numRuns: inputCount(5_000) },
    );
  });
});

describe("parse", () => {
  test.each([
    ["0", "0"],
    ["-0", "0"],
    ["-0.00", "0"],
    ["1.50", "1.5"],
    ["0.000000000000000001", "0.000000000000000001"],
    ["99999999999999999999.999999999999999999", "99999999999999999999.999999999999999999"],
    ["-99999999999999999999.999999999999999999", "-99999999999999999999.999999999999999999"],
    ["123456789012345", "123456789012345"],
    ["1234567890123456", "1234567890123456"],
    ["12345678.90123456", "12345678.90123456"],
  ])("%s is %s", (text, shortest) => {
    expect(decimal.format(decimal.parse(text))).toBe(shortest);
  });

  test.each([
    "",
    " ",
    "-",
    ".",
    "-.",
    "1.",
    ".5",
    "-.5",
    "+1",
    "01",
    "-01",
    "00",
    "00.1",
    "1e3",
    "1E3",
    "1e-7",
    "NaN",
    "Infinity",
    "-Infinity",
    "nan",
    "0x10",
    "1_000",
    "1,000",
    " 1",
    "1 ",
    "1\n",
    "\t1",
    "1.2.3",
    "--1",
    "1-",
    "٣",
    "１２",
    "1.٣",
    "½",
    "−1",
    "1\u0000",
    "null",
    "100000000000000000000",
    "0.0000000000000000001",
    "1.0000000000000000000",
    "9".repeat(41),
    "9".repeat(100_000),
  ])("refuses %j", (text) => {
    expect(decimal.tryParse(text)).toBeUndefined();
    expect(decimal.isDecimalText(text)).toBe(false);
    expect(reasonOf(() => decimal.parse(text))).toBe("malformed");
  });

  test("an error never repeats a huge input", () => {
    expect(() => decimal.parse("9".repeat(100_000))).toThrow(/^a text of 100000 characters is not a decimal/);
  });
});

describe("invariant 1: what does not fit is an error", () => {
  const { largest, one } = decimal;
  const smallest = 1n as decimal.Decimal;

  test.each<[string, () => unknown]>([
    ["add", () => decimal.add(largest, smallest)],
    ["subtract", () => decimal.subtract(decimal.negate(largest), smallest)],
    ["multiply", () => decimal.multiply(largest, decimal.parse("1.1"), "down")],
    ["divide", () => decimal.divide(largest, decimal.parse("0.5"), "down")],
    ["round", () => decimal.round(largest, 0, "up")],
    ["roundToIncrement", () => decimal.roundToIncrement(largest, one, "ceiling")],
    ["fromInteger", () => decimal.fromInteger(10n ** 20n)],
    ["fromNumber", () => decimal.fromNumber(1e20)],
    ["fromNumber with an exponent", () => decimal.fromNumber(-1e21)],
    ["fromNumber at the end of doubles", () => decimal.fromNumber(Number.MAX_VALUE)],
  ])("%s overflows", (_name, run) => {
    expect(reasonOf(run)).toBe("overflow");
  });

  test("the largest value itself is fine", () => {
    expect(decimal.subtract(largest, decimal.zero)).toBe(largest);
    expect(decimal.multiply(largest, one, "up")).toBe(largest);
    expect(decimal.divide(largest, one, "up")).toBe(largest);
    expect(decimal.round(largest, 18, "up")).toBe(largest);
  });

  test.each<[string, () => unknown]>([
    ["divide", () => decimal.divide(one, decimal.zero, "down")],
    ["isMultipleOf", () => decimal.isMultipleOf(one, decimal.zero)],
    ["isMultipleOf of a negative", () => decimal.isMultipleOf(one, decimal.negate(one))],
    ["roundToIncrement", () => decimal.roundToIncrement(one, decimal.zero, "down")],
  ])("%s by zero or less", (_name, run) => {
    expect(reasonOf(run)).toBe("division by zero");
  });

  test.each([-1, 19, 0.5, Number.NaN])("%s places are refused", (places) => {
    expect(reasonOf(() => decimal.round(one, places, "down"))).toBe("too precise");
    expect(reasonOf(() => decimal.formatFixed(one, places, "down"))).toBe("too precise");
  });
});

describe("fromNumber", () => {
  test.each<[number, string]>([
    [0.07, "0.07"],
    [0.1 + 0.2, "0.30000000000000004"],
    [-0, "0"],
    [1e-7, "0.0000001"],
    [-1.5e-7, "-0.00000015"],
    [1e-18, "0.000000000000000001"],
    [250_000, "250000"],
    [99_999_999_999_999_980_000, "99999999999999980000"],
  ])("%s is %s", (number, text) => {
    expect(decimal.format(decimal.fromNumber(number))).toBe(text);
  });

  test.each([1e-19, 1.23456789e-12, 5e-324])("%s needs more places than there are", (number) => {
    expect(reasonOf(() => decimal.fromNumber(number))).toBe("too precise");
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])("%s is no decimal", (number) => {
    expect(reasonOf(() => decimal.fromNumber(number))).toBe("malformed");
  });
});

test("the traps of tick sizes: 50000.03 is not on a tick of 0.05, 50000.05 is", () => {
  const tick = decimal.parse("0.05");
  expect(decimal.isMultipleOf(decimal.parse("50000.03"), tick)).toBe(false);
  expect(decimal.isMultipleOf(decimal.parse("50000.05"), tick)).toBe(true);
  expect(decimal.isMultipleOf(decimal.parse("-50000.05"), tick)).toBe(true);
});

test("every rounding at a tie, a little above it and a little below, on both signs", () => {
  const table: Record<decimal.Rounding, readonly string[]> = {
    //           2.5   -2.5   3.5   -3.5   2.51  -2.51  2.49  -2.49
    down: ["2", "-2", "3", "-3", "2", "-2", "2", "-2"],
    up: ["3", "-3", "4", "-4", "3", "-3", "3", "-3"],
    floor: ["2", "-3", "3", "-4", "2", "-3", "2", "-3"],
    ceiling: ["3", "-2", "4", "-3", "3", "-2", "3", "-2"],
    "half-even": ["2", "-2", "4", "-4", "3", "-3", "2", "-2"],
    "half-up": ["3", "-3", "4", "-4", "3", "-3", "2", "-2"],
  };
  const values = ["2.5", "-2.5", "3.5", "-3.5", "2.51", "-2.51", "2.49", "-2.49"].map(decimal.parse);
  for (const how of roundings) {
    expect(values.map((value) => decimal.format(decimal.round(value, 0, how)))).toEqual(table[how]);
  }
});

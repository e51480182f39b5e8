// The numbered invariants of the condition book, by random lives against a list; and that every entry says only what its gate asks for.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { gateDenials } from "../../contracts/src/codes/denials.ts";
import type { DenialCode } from "../../contracts/src/codes.ts";
import { inputCount } from "../../testkit/full-count.ts";
import { startOfDay } from "../../testkit/risk/engine-fixture.ts";
import * as fundStates from "../state/fund-state.ts";
import { headOf } from "../state/fund-state.ts";
import { createBooks } from "../state/records.ts";
import { noneStands, type StandingCondition } from "../state/standing-condition.ts";
import { conditionsOn, createConditionBook, setConditions } from "./condition-book.ts";
import { conditionOf, conditions, placeOf } from "./index.ts";

const codes = ["DISK_LOW", "LOSS_NOT_JUDGED", "FILL_NOT_ACCEPTED", "NEWS_COOLDOWN", "SYMBOL_BLOCKED"] as const;
const named = <Name extends string>(...names: readonly Name[]) =>
  fc.option(fc.constantFrom(...names), { nil: undefined });
const standing: fc.Arbitrary<StandingCondition> = fc.record({
  code: fc.constantFrom(...codes),
  reason: fc.constantFrom("one", "two", "three"),
  fundId: named("alpha", "beta"),
  strategyId: fc.option(fc.constantFrom("trend", "value"), { nil: undefined, freq: 4 }),
  symbol: named("AAPL", "MSFT"),
  from: fc.option(fc.constantFrom(startOfDay - 1, startOfDay, startOfDay + 1), { nil: undefined }),
});
const steps = fc.array(fc.tuple(fc.constantFrom("s1", "s2", "s3"), fc.array(standing, { maxLength: 4 })), {
  maxLength: 12,
});

const orders = ["alpha", "beta"].flatMap((fund_id) =>
  ["trend", "value"].flatMap((strategy_id) => ["AAPL", "MSFT", ""].map((symbol) => ({ fund_id, strategy_id, symbol }))),
);
type Asked = (typeof orders)[number];

/** As wide as it is: the firm, a fund, a strategy, a symbol in a fund, a symbol. Undefined for one that does not cover the order. */
function width({ fundId, strategyId, symbol }: StandingCondition, asked: Asked): number | undefined {
  if (strategyId !== undefined) return strategyId === asked.strategy_id ? 2 : undefined;
  if (fundId !== undefined && fundId !== asked.fund_id) return undefined;
  if (symbol !== undefined && symbol !== asked.symbol) return undefined;
  if (symbol === undefined) return fundId === undefined ? 0 : 1;
  return fundId === undefined ? 4 : 3;
}

function expected(
  handedIn: ReadonlyMap<string, readonly StandingCondition[]>,
  asked: Asked,
): readonly StandingCondition[] {
  const all = [...handedIn.values()].flat().filter(({ from }) => from === undefined || startOfDay >= from);
  const covering = all.filter((one) => width(one, asked) !== undefined);
  const widestFirst = [...covering].sort((one, other) => (width(one, asked) ?? 0) - (width(other, asked) ?? 0));
  return [...new Set(widestFirst.map(({ code }) => code))]
    .sort((one, other) => placeOf(one) - placeOf(other))
    .map((code) => {
      const same = widestFirst.filter((one) => one.code === code);
      return { ...(same[0] as StandingCondition), ...(same.length > 1 && { count: same.length }) };
    });
}

describe("conditions that stand", () => {
  it("are what the sources handed in last, each code once, widest first, and counted", () => {
    fc.assert(
      fc.property(steps, (life) => {
        const [book, books] = [createConditionBook(), createBooks()];
        // A source that hands in again comes last.
        const handedIn = new Map<string, readonly StandingCondition[]>();
        for (const [source, some] of life) {
          setConditions(book, books, source, some);
          handedIn.delete(source);
          handedIn.set(source, some);
          for (const asked of orders) {
            const found = conditionsOn(book, asked, startOfDay);
            expect(found).toEqual(expected(handedIn, asked));
            const fund = books.funds.get(asked.fund_id);
            const ownFrom = fund === undefined ? Number.POSITIVE_INFINITY : headOf(fund, fundStates.conditionsFrom);
            if (startOfDay < book.from && startOfDay < ownFrom) expect(found).toBe(noneStands);
          }
        }
        for (const source of handedIn.keys()) setConditions(book, books, source, []);
        expect([book.from, book.funds.size, book.bySource.size]).toEqual([Number.POSITIVE_INFINITY, 0, 0]);
        for (const fund of books.funds.values()) {
          expect(headOf(fund, fundStates.conditionsFrom)).toBe(Number.POSITIVE_INFINITY);
        }
      }),
      { seed: 4403, numRuns: inputCount(300) },
    );
  });

  it("are refused when their code is none of a condition", () => {
    const halted = { code: "FIRM_HALTED", reason: "drill" } as const;
    expect(() => setConditions(createConditionBook(), createBooks(), "s", [halted])).toThrow(/none of the conditions/);
  });
});

describe("the list of conditions", () => {
  it("has each code once, in the gate that the registry says, with a rank of its own there", () => {
    expect(new Set(conditions.map(({ code }) => code)).size).toBe(conditions.length);
    expect(new Set(conditions.map(({ gate, rank }) => `${gate} ${rank}`)).size).toBe(conditions.length);
    for (const { code, gate } of conditions) expect(Object.keys(gateDenials[gate])).toContain(code);
  });

  it("asks of each gate what it does: position_risk judges new risk alone, drawdown_halt everything that is not marked", () => {
    for (const { code, gate, exits, unmarked, passive } of conditions) {
      const found = { code, exits, unmarked, passive };
      if (gate === "position_risk") expect(found).toEqual({ code, exits: "ALWAYS", unmarked: "PASS", passive });
      if (gate === "drawdown_halt") expect(found).toMatchObject({ unmarked: "DENIED", passive: "DENIED" });
      if (gate === "static") expect(exits).not.toBe("AS_THE_ENVELOPE_SAYS");
    }
  });

  it("names a command and what ends it in whole sentences, and hides only what is in it", () => {
    for (const { code, ends, hides = [] } of conditions) {
      expect(ends, code).toMatch(/^[A-Z].*\.$/);
      for (const hidden of hides) expect(conditionOf(hidden as DenialCode).gate).toBe(conditionOf(code).gate);
    }
  });
});

// What becomes of each event of a foreign system: taken, refused with its code and sentence, and how it is counted.
import { describe, expect, test } from "vitest";
import { fromMicroseconds } from "../../contracts/src/instant.ts";
import type { Fill } from "../../contracts/src/records/order.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { exampleFill, exampleNav, exampleTransition } from "../../testkit/record-examples.ts";
import { judgeForeign } from "./judge.ts";
import { foreignKindOf, natsSourceOf } from "./judge-event.ts";

const fund = {
  currency: "USD",
  strategies: [exampleFill.strategy_id],
  mode: "LIVE" as const,
  valued_by: "desk",
};
const known = {
  fund: (id: string) => (id === exampleFill.fund_id ? fund : undefined),
  currencyOf: (symbol: string) => (symbol === exampleFill.symbol ? "USD" : undefined),
};
const at = fromMicroseconds(1_000);
const fills = subjects.fillsCreated.name;

function judged(subject: string, payload: unknown, more: { readonly last?: number; readonly booked?: Fill } = {}) {
  const position = more.last === undefined ? undefined : { last: more.last, missing: [] };
  return judgeForeign({
    event: { subject, payload, source: "desk" },
    known,
    position,
    standing: { booked: more.booked },
    at,
    gapId: "g",
  });
}

describe("32.5: what is refused where it enters", () => {
  test.each([
    ["EVENT_FUND_UNKNOWN", fills, { ...exampleFill, fund_id: "alhpa" }, "UNCOUNTED"],
    ["EVENT_SYMBOL_UNKNOWN", fills, { ...exampleFill, symbol: "APPL", sequence: 5 }, "NEXT"],
    ["EVENT_STRATEGY_UNKNOWN", fills, { ...exampleFill, strategy_id: "nobody", sequence: 5 }, "NEXT"],
    ["EVENT_PRICE_IMPOSSIBLE", fills, { ...exampleFill, price: "0", sequence: 5 }, "NEXT"],
    ["EVENT_PRICE_IMPOSSIBLE", fills, { ...exampleFill, price: "-0.01", kind: "SETTLEMENT", sequence: 7 }, "GAP"],
    [
      "EVENT_SYMBOL_UNKNOWN",
      subjects.ordersUpdated.name,
      { ...exampleTransition, symbol: "APPL", sequence: 5 },
      "NEXT",
    ],
    ["EVENT_CURRENCY_WRONG", subjects.navUpdated.name, { ...exampleNav, currency: "EUR", sequence: 5 }, "NEXT"],
    ["EVENT_CURRENCY_WRONG", fills, { ...exampleFill, currency: "EUR", sequence: 5 }, "NEXT"],
    ["EVENT_FUND_UNKNOWN", subjects.navUpdated.name, { ...exampleNav, fund_id: "alhpa" }, "UNCOUNTED"],
  ])("%s, and it uses up its number", (code, subject, payload, numbering) => {
    const { refusal, numbering: counted } = judged(subject, payload, { last: 4 });
    expect(refusal?.code).toBe(code);
    expect(refusal?.sentence).toMatch(/ublish/);
    expect(counted).toBe(numbering);
  });

  test("an option that ended without value settles at zero", () => {
    const { refusal } = judged(fills, { ...exampleFill, price: "0", kind: "SETTLEMENT" });
    expect(refusal).toBeUndefined();
  });

  test("a fill that comes again with other content, and the same written otherwise is the same", () => {
    const again = { ...exampleFill, quantity: `${exampleFill.quantity}.0` };
    expect(judged(fills, again, { booked: exampleFill }).refusal).toBeUndefined();
    const other = { ...exampleFill, quantity: "11", price: "1" };
    const { refusal } = judged(fills, other, { booked: exampleFill });
    expect(refusal).toMatchObject({
      code: "EVENT_FILL_CHANGED",
      sentence: expect.stringContaining("another quantity, price;"),
    });
  });
});

describe("whose value it is", () => {
  const { valued_by: _named, ...nobodys } = fund;
  const paper = "PAPER" as const;
  test.each([
    ["the source that a LIVE fund names", fund, "desk", undefined],
    ["another's", fund, "stranger", /valued by desk, /],
    ["a LIVE fund's that names none", nobodys, "desk", /names no source of its values/],
    ["a PAPER fund's, which treasury values", { ...nobodys, mode: paper }, "desk", /valued by treasury, /],
    ["a PAPER fund's that names it", { ...fund, mode: paper }, "desk", undefined],
  ])("%s", (_what, of, source, sentence) => {
    const event = { subject: subjects.navUpdated.name, payload: { ...exampleNav, sequence: 5 }, source };
    const asked = { ...known, fund: () => of };
    const { refusal, numbering } = judgeForeign({
      event,
      known: asked,
      position: { last: 4, missing: [] },
      at,
      gapId: "g",
    });
    expect(refusal?.code).toBe(sentence === undefined ? undefined : "EVENT_VALUE_NOT_YOURS");
    expect(refusal?.sentence ?? "").toMatch(sentence ?? /^$/);
    expect(numbering).toBe("NEXT");
  });
});

describe("whose value it is, where a token speaks through a login of NATS", () => {
  test.each([
    ["the token's", "house", undefined],
    ["the login's, which the fund named before the token did", "foreign-treasury", undefined],
    ["another's", "desk", "EVENT_VALUE_NOT_YOURS"],
  ])("%s", (_what, valued_by, code) => {
    const event = {
      subject: subjects.navUpdated.name,
      payload: { ...exampleNav, sequence: 5 },
      source: "house",
      numberedBy: "foreign-treasury",
    };
    const asked = { ...known, fund: () => ({ ...fund, valued_by }) };
    expect(judgeForeign({ event, known: asked, position: undefined, at, gapId: "g" }).refusal?.code).toBe(code);
  });
});

describe("32.4: how events are counted", () => {
  test("taken with its number, with a gap before it, again, and without a number", () => {
    const numbering = (sequence: number | undefined) =>
      judged(fills, { ...exampleFill, ...(sequence !== undefined && { sequence }) }, { last: 4 }).numbering;
    expect([5, 9, 4, undefined].map(numbering)).toEqual(["NEXT", "GAP", "REPEATED", "UNNUMBERED"]);
  });

  test("orders, fills and values are counted; on NATS their source is the login that may publish them", () => {
    const kinds = [subjects.ordersCreated, subjects.ordersExpired, subjects.fillsCreated, subjects.navUpdated];
    expect(kinds.map(({ name }) => foreignKindOf(name))).toEqual(["orders", "orders", "fills", "values"]);
    expect(foreignKindOf(subjects.marketMarks.name)).toBeUndefined();
    expect([natsSourceOf("orders"), natsSourceOf("values")]).toEqual(["foreign-oms", "foreign-treasury"]);
  });
});

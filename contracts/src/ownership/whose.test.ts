// What a token that names funds may ask about, and what of an answer is its business.
import { describe, expect, it } from "vitest";
import { answerForFunds, everyFundRefusal, fundsRefusal, requestRefusal } from "./whose.ts";

const harbor = ["harbor"];

describe("a request", () => {
  it.each([
    [{ fund_id: "harbor" }, undefined],
    [{ fund_id: "alpha" }, /this is about "alpha"/],
    [{ fund_id: "" }, /Without a fund this is about every fund.*name the fund as fund_id/],
    [{}, /Without a fund/],
    [{ proposed: { fund_id: "alpha" }, fund_id: "harbor" }, /this is about "alpha"/],
    [{ proposed: { fund_id: "harbor" } }, undefined],
    [{ rows: [{ fund_id: "harbor" }, { fund_id: "alpha" }] }, /this is about "alpha"/],
  ])("%j", (request, refused) => {
    const found = requestRefusal(request, ["fund_id", "proposed.fund_id", "rows[].fund_id"], harbor);
    if (refused === undefined) expect(found).toBeUndefined();
    else expect(found).toMatch(refused);
    expect(requestRefusal(request, ["fund_id"], undefined)).toBeUndefined();
  });

  it("about all funds alike takes a token of every fund", () => {
    expect(everyFundRefusal(["every_fund"], harbor)).toMatch(/speaks of "harbor" only/);
    expect(everyFundRefusal(["every_fund"], undefined)).toBeUndefined();
    expect(everyFundRefusal(["fund"], harbor)).toBeUndefined();
    expect(everyFundRefusal(undefined, harbor)).toBeUndefined();
  });

  it("names a bounded number of funds in its refusal", () => {
    const many = Array.from({ length: 100 }, (_, n) => `fund-${n}`);
    expect(fundsRefusal(["x".repeat(1_000)], many)).toMatch(/"fund-4" and 95 more/);
    expect(fundsRefusal(["x".repeat(1_000)], many)?.length).toBeLessThan(400);
  });
});

describe("an answer", () => {
  const paths = [
    "fund_id",
    "halts[].fund_id",
    "orders[].order.fund_id",
    "orders[].decision.fund_id",
    "orders[].decision.original.fund_id",
    "changes[].halts[].fund_id",
  ];
  const part = (answer: object) => answerForFunds(answer, paths, harbor);

  it("has the rows of the token's funds and of the firm alone", () => {
    const halts = ["harbor", "alpha", ""].map((fund_id) => ({ fund_id }));
    expect(part({ fund_id: "harbor", halts, changes: [{ halts }] })).toEqual({
      fund_id: "harbor",
      halts: [{ fund_id: "harbor" }, { fund_id: "" }],
      changes: [{ halts: [{ fund_id: "harbor" }, { fund_id: "" }] }],
    });
    // What the handler answered stays as it is.
    expect(halts).toHaveLength(3);
  });

  it("about another fund is none", () => {
    expect(part({ fund_id: "alpha" })).toBeUndefined();
  });

  it("keeps a row that mentions another fund on the side, without that", () => {
    const order = { fund_id: "harbor" };
    const orders = [
      { order, decision: { fund_id: "harbor", original: { fund_id: "alpha", order_id: "o" } } },
      { order: { fund_id: "alpha" }, decision: { fund_id: "alpha" } },
      { order, decision: { fund_id: "alpha" } },
      { order },
    ];
    expect(part({ orders })).toEqual({
      orders: [{ order, decision: { fund_id: "harbor", original: undefined } }, { order }],
    });
  });
});

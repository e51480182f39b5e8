// REDUCE, INCREASE or FLIP: by hand, and against a model that fills the orders one unit at a time.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import { inputCount } from "../../testkit/full-count.ts";
import { d, passingDraft, settle } from "../../testkit/passing-order.ts";
import { nothing, toDecimal } from "../money/amount.ts";
import type { FundView } from "../state/view.ts";

const seed = Number(process.env["PORTCULLIS_SEED"] ?? "20261115");

interface Situation {
  readonly position?: string;
  readonly pendingBuy?: string;
  readonly pendingSell?: string;
  readonly ownRemaining?: string;
  readonly ownFilled?: string;
}

function classified(side: string, quantity: string, situation: Situation = {}): FundView {
  const draft = passingDraft();
  Object.assign(draft.order, { side, quantity });
  for (const [name, value] of Object.entries(situation)) Object.assign(draft.view, { [name]: d(value) });
  settle(draft, { envelope: true, instrument: true });
  return draft.view;
}

function classText(side: string, quantity: string, situation: Situation = {}): string {
  const view = classified(side, quantity, situation);
  return `${view.classification} ${decimal.format(toDecimal(view.closingQuantity))} ${decimal.format(toDecimal(view.openingQuantity))}`;
}

describe("trap: reducing by side only is wrong", () => {
  test("from flat nothing reduces", () => {
    expect(classText("SELL", "10")).toBe("INCREASE 0 10");
    expect(classText("BUY_TO_COVER", "10")).toBe("INCREASE 0 10");
  });
  test("equal to the position reduces", () => {
    expect(classText("SELL", "10", { position: "10" })).toBe("REDUCE 10 0");
    expect(classText("BUY", "10", { position: "-10" })).toBe("REDUCE 10 0");
    expect(classText("SELL_SHORT", "10", { position: "10" })).toBe("REDUCE 10 0");
  });
  test("oversize by one lot flips", () => {
    expect(classText("SELL", "11", { position: "10" })).toBe("FLIP 10 1");
    expect(classText("BUY_TO_COVER", "11", { position: "-10" })).toBe("FLIP 10 1");
  });
  test("two concurrent closes: the second closes what the first leaves", () => {
    expect(classText("SELL", "10", { position: "10", pendingSell: "10" })).toBe("INCREASE 0 10");
    expect(classText("SELL", "10", { position: "10", pendingSell: "4" })).toBe("FLIP 6 4");
    expect(classText("SELL", "6", { position: "10", pendingSell: "4" })).toBe("REDUCE 6 0");
    expect(classText("BUY", "6", { position: "-10", pendingBuy: "40" })).toBe("INCREASE 0 6");
  });
  test("the same direction never reduces, and pending orders of the same direction free nothing", () => {
    expect(classText("BUY", "10", { position: "10" })).toBe("INCREASE 0 10");
    expect(classText("SELL", "10", { position: "-10" })).toBe("INCREASE 0 10");
    expect(classText("SELL", "11", { position: "10", pendingBuy: "100" })).toBe("FLIP 10 1");
  });
});

describe("an amendment", () => {
  test("asks for what its new quantity leaves open", () => {
    expect(classText("SELL", "80", { position: "70", ownFilled: "30", ownRemaining: "70" })).toBe("REDUCE 50 0");
    expect(classText("SELL", "110", { position: "70", ownFilled: "30", ownRemaining: "70" })).toBe("FLIP 70 10");
  });
  test("cut below what has filled leaves nothing open", () => {
    expect(classText("BUY", "20", { position: "30", ownFilled: "30", ownRemaining: "70" })).toBe("INCREASE 0 0");
    expect(classText("SELL", "20", { position: "70", ownFilled: "30", ownRemaining: "70" })).toBe("REDUCE 0 0");
  });
});

test("without a side or a quantity there is nothing to classify", () => {
  expect(classText("HOLD", "10", { position: "10" })).toBe("undefined 0 0");
  expect(classText("SELL", "ten", { position: "10" })).toBe("undefined 0 0");
});

test(`invariants 1, 2 and 3 hold for any situation (seed ${seed})`, () => {
  const quantity = fc.integer({ min: 0, max: 30 });
  fc.assert(
    fc.property(
      fc.constantFrom("BUY", "SELL"),
      fc.integer({ min: 1, max: 60 }),
      fc.integer({ min: -30, max: 30 }),
      quantity,
      quantity,
      (side, size, position, pendingBuy, pendingSell) => {
        const view = classified(side, String(size), {
          position: String(position),
          pendingBuy: String(pendingBuy),
          pendingSell: String(pendingSell),
        });
        // The model: every other order on this side fills first, then this one, one unit at a time.
        const step = side === "BUY" ? 1 : -1;
        let held = position + (side === "BUY" ? pendingBuy : -pendingSell);
        let closing = 0;
        for (let unit = 0; unit < size; unit += 1) {
          if (held * step < 0) closing += 1;
          held += step;
        }
        const kind = closing === size ? "REDUCE" : closing > 0 ? "FLIP" : "INCREASE";
        const closes = toDecimal(view.closingQuantity);
        const opens = toDecimal(view.openingQuantity);
        expect([view.classification, closes, opens]).toEqual([
          kind,
          decimal.fromInteger(BigInt(closing)),
          decimal.fromInteger(BigInt(size - closing)),
        ]);
        expect(closes + opens).toBe(toDecimal(view.terms.quantity ?? nothing));
      },
    ),
    { seed, numRuns: inputCount(2_000) },
  );
});

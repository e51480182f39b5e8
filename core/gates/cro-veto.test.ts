// Gates 7 and 1: the risk officer's verdict as data, and the finding about the key.
import { describe, expect, test } from "vitest";
import { Defect } from "../../contracts/src/fault.ts";
import { d, judge, type Spoil } from "../../testkit/passing-order.ts";
import type { Verdict } from "../state/view.ts";

function outcomeOf(verdict: Partial<Verdict>, more: Spoil = () => undefined) {
  return judge((draft) => [Object.assign(draft.view, { verdict: { ...draft.view.verdict, ...verdict } }), more(draft)]);
}

describe("cro_veto", () => {
  test("a veto says why, in one line, cut to size", () => {
    const outcome = outcomeOf({ kind: "veto", reason: `too much\nat once ${"x".repeat(5_000)}` });
    expect(outcome).toMatchObject({ code: "RISK_OFFICER_VETO", gate: "cro_veto" });
    expect(outcome.reason).toMatch(/^The risk officer says: "too much\\nat once x+…"\.$/);
    expect(outcome.reason.length).toBeLessThan(1_100);
  });

  test("no answer in time is the fund's own choice", () => {
    const lenient: Spoil = ({ envelope }) => Object.assign(envelope, { cro_veto_on_timeout: "PASS_WITH_WARNING" });
    expect(outcomeOf({ kind: "timeout" })).toMatchObject({ code: "RISK_OFFICER_TIMEOUT" });
    const passed = outcomeOf({ kind: "timeout" }, lenient);
    expect(passed.approved).toBe(true);
    expect(passed.figures.get("on_timeout")).toBe("PASS_WITH_WARNING");
  });

  test("an answer that cannot be read denies, whatever the policy about time is", () => {
    const lenient: Spoil = ({ envelope }) => Object.assign(envelope, { cro_veto_on_timeout: "PASS_WITH_WARNING" });
    expect(outcomeOf({ kind: "unreadable" }, lenient).code).toBe("RISK_OFFICER_UNREADABLE");
  });

  test("what was asked, of whom and at which cost is noted", () => {
    const { figures } = outcomeOf({ kind: "pass" });
    expect(Object.fromEntries(figures)).toMatchObject({
      verdict: "pass",
      model: "persona-1",
      prompt_hash: "ab12",
      cost_usd: "0.002",
      took_ms: "150",
    });
    expect(outcomeOf({ kind: "pass", costUsd: "" }).figures.get("cost_usd")).toBe("unknown");
  });

  test("it never approves what another gate denied", () => {
    expect(outcomeOf({ kind: "pass" }, ({ view }) => Object.assign(view, { halt: "FUND_HALT" })).code).toBe(
      "FUND_HALTED",
    );
  });

  test("a reduction is not asked about, and nothing else may come here unasked", () => {
    const reduction: Spoil = ({ order, view }) => {
      order.side = "SELL";
      view.position = d("100");
    };
    expect(outcomeOf({ kind: "none" }, reduction).approved).toBe(true);
    expect(outcomeOf({ kind: "veto" }, reduction).approved).toBe(true);
    expect(() => outcomeOf({ kind: "none" })).toThrow(Defect);
  });
});

describe("idempotency", () => {
  test("a key that was seen denies, whatever else is wrong with the order", () => {
    const seen = (keySeen: string) =>
      judge(({ order, view }) => [
        Object.assign(view, { keySeen, keyAgeMs: 1_500 }),
        Object.assign(order, { side: "" }),
      ]);
    expect(seen("same order")).toMatchObject({
      code: "DUPLICATE_KEY",
      gate: "idempotency",
      reason: "The same order was asked 1.5 s ago under this idempotency key.",
    });
    expect(seen("another order")).toMatchObject({
      code: "KEY_REUSED",
      reason: "The idempotency key was used 1.5 s ago for another order.",
    });
    expect(seen("another order").ages.get("key")).toBe(1_500);
  });

  test("a new key passes", () => expect(judge(() => undefined).figures.get("key")).toBe("new"));
});

test("a gate that is reached without what an earlier one assures is our own mistake", async () => {
  const { assured } = await import("../state/new-risk.ts");
  expect(() => assured(undefined, "an envelope")).toThrow(Defect);
  expect(assured(0, "a count")).toBe(0);
});

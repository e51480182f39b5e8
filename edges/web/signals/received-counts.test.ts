// What came in, narrowed and counted: nothing that was refused is lost on the way to the page.
import { describe, expect, it } from "vitest";
import { waitText } from "./horizon.ts";
import { codeOf, countsOf, gradeOfSignal, matching, type ReceivedSignal, strategiesOf } from "./received-counts.ts";

const signal = (facts: Partial<ReceivedSignal>): ReceivedSignal =>
  ({ signal_id: "s", status: "SUBMITTED", http_status: 202, warnings: [], ...facts }) as ReceivedSignal;

const signals = [
  signal({ fund_id: "alpha", strategy_id: "one" }),
  signal({ fund_id: "alpha", strategy_id: "two", decision_code: "MAX_NOTIONAL" }),
  signal({ fund_id: "beta", status: "REFUSED", code: "WEBHOOK_SYMBOL_UNKNOWN" }),
  signal({ status: "REFUSED", code: "WEBHOOK_SECRET_WRONG", unrecorded: 7 }),
  signal({ status: "REFUSED", code: "WEBHOOK_SECRET_WRONG", unrecorded: 4 }),
];

describe("alerts that came in", () => {
  it("of a fund have those beside them that proved no secret", () => {
    const shown = matching(signals, { fund: "alpha" });
    expect(shown.map(codeOf)).toEqual([undefined, "MAX_NOTIONAL", "WEBHOOK_SECRET_WRONG", "WEBHOOK_SECRET_WRONG"]);
    expect(matching(signals, {})).toHaveLength(5);
    expect(matching(signals, { strategy: "two", status: "SUBMITTED" })).toEqual([signals[1]]);
    expect(matching(signals, { status: "FAILED" })).toEqual([]);
  });

  it("offer the strategies of those that proved a secret, and no words that a stranger put in the place of one", () => {
    const turned = signal({ fund_id: "alpha", strategy_id: "every strategy\u202e", status: "REFUSED" });
    const strangers = signal({ strategy_id: "halt-everything-at-once", status: "REFUSED" });
    expect(strategiesOf([...signals, turned, strangers], undefined)).toEqual(["one", "two"]);
    expect(strategiesOf([], "three")).toEqual(["three"]);
  });

  it("are counted by status and code, with what was not kept", () => {
    expect(countsOf(signals)).toEqual({
      byStatus: [
        ["REFUSED", 3],
        ["ACCEPTED", 0],
        ["SUBMITTED", 2],
        ["FAILED", 0],
      ],
      byCode: [
        ["WEBHOOK_SECRET_WRONG", 2],
        ["MAX_NOTIONAL", 1],
        ["WEBHOOK_SYMBOL_UNKNOWN", 1],
      ],
      notKept: 11,
    });
  });

  it("are grave when they became nothing", () => {
    expect(signals.map(gradeOfSignal)).toEqual([undefined, "warning", "critical", "critical", "critical"]);
  });
});

describe("what came of a strategy's signal", () => {
  const at = "2026-11-18T12:00:00.000000Z";
  const waits = (minutes: number, realised_return?: number) =>
    waitText(
      { at, horizon_s: 3_600, ...(realised_return === undefined ? {} : { realised_return }) },
      Date.parse(at) + minutes * 60_000,
    );

  it("is not known before its horizon is over, and for good when no price was found", () => {
    expect([waits(59), waits(61), waits(181), waits(30, 0.01)]).toEqual([
      "not yet",
      "being looked up",
      "not known",
      undefined,
    ]);
  });
});

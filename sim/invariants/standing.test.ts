// The invariants about what stands in the market or is held can fail, each in every way that it knows.
import { describe, expect, it } from "vitest";
import type { ReferenceKind } from "../../contracts/src/records/reference.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { paperReference } from "../../services/shared/paper-seeds.ts";
import { exampleOrder } from "../../testkit/record-examples.ts";
import type { Evidence } from "../evidence.ts";
import { fold, strategyKey } from "../history.ts";
import {
  amount,
  at,
  created,
  type Doctored,
  decided,
  halt,
  message,
  nothing,
  step,
  triggered,
} from "./doctored-evidence.ts";
import { marketWithinApproved, standingKeepsReference } from "./standing.ts";

const id = exampleOrder.order_id;
const asEvidence = (evidence: Doctored): Evidence => evidence as unknown as Evidence;

describe("market_within_approved", () => {
  /** An order of 100 that was approved, and what the broker has of it. */
  function working(quantity: string): Doctored {
    const evidence = nothing();
    created(evidence.past, { quantity: "100" });
    fold(evidence.past, message(subjects.decisionMade, decided({}, { quantity: "100" })));
    evidence.platform.outside.open.set(id, { clientOrderId: id, quantity: amount(quantity) });
    return evidence;
  }
  const amended = (evidence: Doctored, key: string, quantity: string): void =>
    fold(
      evidence.past,
      message(subjects.decisionMade, decided({ decision_id: key }, { quantity, idempotency_key: key })),
    );
  const complaint = (evidence: Doctored) => marketWithinApproved.violated(asEvidence(evidence));

  it("holds for what was approved, and for more when that was approved as well", () => {
    expect(complaint(working("100"))).toBeUndefined();
    const larger = working("200");
    amended(larger, "k-1", "200");
    expect(complaint(larger)).toBeUndefined();
  });

  it("complains of more than the newest approval that was spent allows, at the broker and as it is reported", () => {
    expect(complaint(working("101"))).toMatch(/in the market for 101, and 100 are approved/);
    const again = working("200");
    amended(again, "k-1", "200");
    fold(again.past, message(subjects.ordersUpdated, step("WORKING", "WORKING", { quantity: "200" })));
    amended(again, "k-2", "50");
    fold(again.past, message(subjects.ordersUpdated, step("WORKING", "WORKING", { quantity: "50" })));
    // The approval of before, spent once more.
    expect(complaint(again)).toMatch(/in the market for 200, and 50 are approved/);
    again.platform.outside.open.clear();
    again.reported = message(subjects.ordersUpdated, step("WORKING", "WORKING", { quantity: "200" }));
    expect(complaint(again)).toMatch(/in the market for 200, and 50 are approved/);
  });

  it("complains of terms that were dropped and are with the broker all the same", () => {
    const dropped = working("200");
    amended(dropped, "k-1", "200");
    fold(dropped.past, message(subjects.ordersUpdated, step("WORKING", "WORKING", { dropped_amendment_key: "k-1" })));
    expect(complaint(dropped)).toMatch(/in the market for 200, and 100 are approved/);
  });

  it("says nothing of an order that goes out in slices, which are approved instead of it", () => {
    const evidence = nothing();
    created(evidence.past, { quantity: "100" });
    evidence.reported = message(subjects.ordersUpdated, step("WORKING", "WORKING", { quantity: "100" }));
    expect(complaint(evidence)).toBeUndefined();
  });
});

describe("standing_keeps_reference", () => {
  const seeds = paperReference(at);

  /** A change of one kind of reference data from its seeds to this, under whatever stands. */
  function changing<Kind extends ReferenceKind>(kind: Kind, after: unknown, stands: (evidence: Doctored) => void) {
    const evidence = nothing();
    const { references } = evidence.platform.tables.risk;
    for (const each of ["funds", "calendars", "instruments"] as const) {
      references.set(each, [{ kind: each, version: 1, content: seeds[each] } as never]);
    }
    references.set(kind, [...(references.get(kind) ?? []), { kind, version: 2, content: after } as never]);
    stands(evidence);
    evidence.reported = message(subjects.referenceChanged, { kind, version: 2 });
    return standingKeepsReference.violated(asEvidence(evidence));
  }

  const held = ({ past }: Doctored): void =>
    void past.strategyPositions.set(strategyKey("alpha", "alpha-momentum", "AAPL"), amount("10"));
  const sent = ({ past }: Doctored): void => {
    created(past, { fund_id: "alpha", strategy_id: "alpha-momentum", symbol: "AAPL" });
    fold(past, message(subjects.ordersUpdated, step("ACCEPTED", "ROUTED")));
  };
  const owed = ({ past }: Doctored): void =>
    fold(past, message(subjects.stopTriggered, { ...triggered, fund_id: "alpha", strategy_id: "alpha-momentum" }));
  const halted = ({ past }: Doctored): void => {
    const strategy = { severity: "STRATEGY_HALT", fund_id: "alpha", strategy_id: "alpha-momentum" };
    fold(past, message(subjects.haltRequested, { ...halt, ...strategy }));
  };
  const nobody = (): void => undefined;

  const without = seeds.instruments.filter(({ symbol }) => symbol !== "AAPL");
  const tenfold = seeds.instruments.map((one) => (one.symbol === "AAPL" ? { ...one, multiplier: "10" } : one));
  const same = seeds.instruments.map((one) => ({ ...one, multiplier: `${one.multiplier}.0`, name: "another" }));
  const alpha = (differs: object) =>
    seeds.funds.map((fund) => (fund.fund_id === "alpha" ? { ...fund, ...differs } : fund));

  it.each([
    ["a position", held],
    ["an order in the market", sent],
    ["a stop that is owed", owed],
  ] as const)("complains of an instrument that goes away or becomes another under %s", (_what, stands) => {
    expect(changing("instruments", without, stands)).toMatch(/the instrument AAPL went away under/);
    expect(changing("instruments", tenfold, stands)).toMatch(/multiplier of AAPL became 10 under/);
    expect(changing("instruments", same, stands)).toBeUndefined();
  });

  it.each([
    ["a position", held],
    ["an order in the market", sent],
    ["a stop that is owed", owed],
    ["a halt", halted],
  ] as const)("complains of a fund, strategy or day that goes away or becomes another under %s", (_what, stands) => {
    const others = seeds.funds.filter(({ fund_id: fundId }) => fundId !== "alpha");
    expect(changing("funds", others, stands)).toMatch(/the fund alpha went away under/);
    expect(changing("funds", alpha({ mode: "LIVE" }), stands)).toMatch(/the mode of alpha became LIVE under/);
    expect(changing("funds", alpha({ strategies: ["alpha-meanrev"] }), stands)).toMatch(
      /the strategy alpha-momentum of alpha went away under/,
    );
    expect(changing("funds", alpha({ strategies: ["alpha-momentum"] }), stands)).toBeUndefined();
    const moved = seeds.calendars.map((calendar) => ({ ...calendar, zone: "Asia/Tokyo" }));
    expect(changing("calendars", moved, stands)).toMatch(/alpha counts its days by .*, which is of Asia\/Tokyo now/);
    expect(changing("calendars", seeds.calendars, stands)).toBeUndefined();
  });

  it("lets a corporate action carry a stop to the new name of its symbol, and nothing else", () => {
    const renamed = seeds.instruments.map((one) => (one.symbol === "AAPL" ? { ...one, symbol: "NEW" } : one));
    const legs = [{ symbol: "AAPL", new_symbol: "NEW", quantity: [1, 1], price: [1, 1] }];
    const announced =
      (stands: (evidence: Doctored) => void) =>
      (evidence: Doctored): void => {
        stands(evidence);
        fold(evidence.past, message(subjects.corporateActionChanged, { action_id: "a", state: "ANNOUNCED", legs }));
      };
    expect(changing("instruments", renamed, announced(owed))).toBeUndefined();
    expect(changing("instruments", without, announced(owed))).toMatch(/AAPL went away under the stop/);
    expect(changing("instruments", renamed, announced(held))).toMatch(/AAPL went away under/);
    expect(changing("instruments", renamed, owed)).toMatch(/AAPL went away under the stop/);
  });

  it("holds for every change under which nothing stands", () => {
    expect(changing("instruments", [], nobody)).toBeUndefined();
    expect(changing("funds", [], nobody)).toBeUndefined();
    expect(changing("calendars", [], nobody)).toBeUndefined();
  });
});

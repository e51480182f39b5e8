// Every invariant can fail: each is shown evidence in which it holds, and the same evidence with one thing wrong. An invariant that nobody can make
// complain is no invariant, so the last test asks that none is left out.
import { describe, expect, it } from "vitest";
import type { Fill } from "../../contracts/src/records/order.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { exampleFill, exampleOrder } from "../../testkit/record-examples.ts";
import type { Evidence } from "../evidence.ts";
import { fold, positionKey, strategyKey } from "../history.ts";
import { invariants } from "../invariants.ts";
import * as ofActions from "./actions.ts";
import * as ofBreaches from "./breaches.ts";
import {
  amount,
  approval,
  approved,
  at,
  attempted,
  created,
  type Doctor,
  type Doctored,
  decided,
  figures,
  fired,
  fundId,
  halt,
  limits,
  message,
  nothing,
  position,
  reported,
  settled,
  step,
  stored,
  traded,
  triggered,
  valued,
} from "./doctored-evidence.ts";
import * as ofExits from "./exits.ts";
import * as ofHalts from "./halts.ts";
import { canary } from "./life.ts";
import * as ofLosses from "./losses.ts";
import * as ofSignals from "./signals.ts";
import * as ofStanding from "./standing.ts";

function complaint(name: string, doctor: (evidence: Doctored) => void): string | undefined {
  const evidence = nothing();
  doctor(evidence);
  return [...invariants, canary].find((one) => one.name === name)?.violated(evidence as unknown as Evidence);
}

const crossFill: Fill = {
  ...exampleFill,
  fill_id: "c:1",
  order_id: "c",
  quantity: "10",
  fee: "0",
  broker: "internal",
  side: "SELL",
  kind: "CROSS",
};
const ofFill = strategyKey(exampleFill.fund_id, exampleFill.strategy_id, exampleFill.symbol);

/** What is reported is reported at that moment. */
const reportedAtUs = 20_000_000;
const unauditedFor =
  (us: number): Doctor =>
  (evidence) => {
    evidence.unaudited = () => ({ subject: subjects.fillsCreated.name, at: reportedAtUs - us });
  };
const goneFor =
  (us: number): Doctor =>
  ({ platform }) => {
    platform.damage.sinceUs = reportedAtUs - us;
  };

/** A stop whose exit waits, as an alarm says, while the reconciler has reported this of its symbol. */
function waitsFor(evidence: Parameters<Doctor>[0], status: string): void {
  fired(evidence);
  const { strategy_id, symbol } = triggered;
  const sentence = `The stop of ${strategy_id} in ${symbol} fired and its exit is not confirmed.`;
  const alarm = { code: "STOP_EXIT_WAITING", sentence, facts: { fund_id: fundId, symbol } };
  fold(evidence.past, message(subjects.stopAttempted, attempted(1)));
  fold(evidence.past, message(subjects.alarmRaised, alarm));
  for (const reported of ["CONFIRMED", status].slice(status === "SUSPECTED" ? 1 : 0)) {
    fold(evidence.past, message(subjects.reconcileDifference, { fund_id: fundId, symbol, status: reported }));
  }
}

/** A hundred contracts are approved for a fund of 1,000, at a price of a hundredth: each moves with its delta. */
function optionsMoveWith(delta: number) {
  const order = { symbol: "SPY 281215C00650000", side: "BUY", asset_class: "OPTION", quantity: "100" } as const;
  return reported(
    subjects.decisionMade,
    decided({ checks: figures("0", "70"), envelope_version: 1 }, order),
    (evidence) => {
      limits(evidence);
      const market = { delta: () => delta, bidAsk: () => ({ bid: 0.01, ask: 0.01 }) };
      Object.assign(evidence.platform, { outside: { ...evidence.platform.outside, ...market } });
    },
  );
}

/** By invariant: evidence in which it holds, and evidence that must make it complain with these words. */
const table: Readonly<
  Record<string, { readonly holds: readonly Doctor[]; readonly fails: readonly (readonly [RegExp, Doctor])[] }>
> = {
  no_approval_in_a_halt: {
    holds: [
      reported(subjects.decisionMade, decided({ halt_epoch: 2 }), ({ past }) => past.halts.push(halt as never)),
      reported(subjects.decisionMade, decided({ halt_epoch: 3, approved: false }), ({ past }) =>
        past.halts.push(halt as never),
      ),
    ],
    fails: [
      [
        /approved at epoch 3 under halt-1/,
        reported(subjects.decisionMade, decided({ halt_epoch: 3 }), ({ past }) => past.halts.push(halt as never)),
      ],
      [/was never reported/, ({ promises }) => promises.approvals.push({ decisionId: "d-9", turn: 1 })],
      [
        /left after halt-1 was acknowledged/,
        ({ past, promises }) => {
          past.halts.push(halt as never);
          past.approvals.set("d-1", { decision: approval, order: exampleOrder } as never);
          promises.halts.set("halt-1", { epoch: 3, turn: 1 });
          promises.approvals.push({ decisionId: "d-1", turn: 2 });
        },
      ],
    ],
  },
  unaccepted_fills_block: {
    holds: [
      ({ past, reserved }) => {
        const known = { approval, routed: true, allowed: amount("1000000") };
        past.orders.set(exampleOrder.order_id, known as never);
        reserved.unaccepted.push({ order: exampleOrder, blockId: "b-1" });
      },
    ],
    fails: [
      [
        /was approved while b-1 waited/,
        ({ reserved }) => reserved.unaccepted.push({ order: exampleOrder, blockId: "b-1" }),
      ],
    ],
  },
  no_key_approved_twice: {
    holds: [reported(subjects.decisionMade, decided())],
    fails: [
      [
        /was approved as d-1 and again/,
        reported(subjects.decisionMade, decided(), ({ past }) =>
          past.keys.set(exampleOrder.idempotency_key, { decisionId: "d-1", at: 0 }),
        ),
      ],
    ],
  },
  options_count_their_underlying: {
    holds: [optionsMoveWith(0.8)],
    fails: [[/which move with 100 of SPY/, optionsMoveWith(1)]],
  },
  worst_case_within_envelope: {
    holds: [
      reported(
        subjects.decisionMade,
        decided({ checks: figures("0", "70"), envelope_version: 1 }, { side: "BUY" }),
        limits,
      ),
    ],
    fails: [
      [
        /a position of 71/,
        reported(
          subjects.decisionMade,
          decided({ checks: figures("0", "71"), envelope_version: 1 }, { side: "BUY" }),
          limits,
        ),
      ],
      [
        /limits that nobody reported/,
        reported(
          subjects.decisionMade,
          decided({ checks: figures("0", "70"), envelope_version: 9 }, { side: "BUY" }),
          limits,
        ),
      ],
      [
        /counting 0 of .* it can be 5/,
        reported(
          subjects.decisionMade,
          decided({ checks: figures("0", "70"), envelope_version: 1 }, { side: "BUY" }),
          (evidence) => {
            limits(evidence);
            evidence.past.positions.set(positionKey(fundId, exampleOrder.symbol), amount("5"));
          },
        ),
      ],
    ],
  },
  unsent_approvals_expire: {
    holds: [
      ({ reserved }) => reserved.unsent.add("o-1"),
      (evidence) => {
        evidence.settled = true;
        evidence.reserved.expired.add("o-1");
      },
    ],
    fails: [
      [
        /nobody sent it/,
        (evidence) => {
          evidence.settled = true;
          evidence.reserved.unsent.add("o-1");
        },
      ],
    ],
  },
  reserved_while_alive: {
    holds: [
      ({ platform, reserved }) => {
        platform.outside.open.set("o-1", {});
        reserved.held.add("o-1");
      },
    ],
    fails: [
      [/was never reserved/, ({ platform }) => platform.outside.open.set("o-1", {})],
      [
        /at the broker and its reservation is gone/,
        ({ platform, reserved }) => {
          platform.outside.open.set("o-1", {});
          reserved.held.add("o-1");
          reserved.freed.add("o-1");
        },
      ],
      [
        /at the broker and its reservation is gone/,
        ({ platform, reserved }) => {
          platform.outside.open.set("o-1", {});
          reserved.held.add("o-1");
          reserved.expired.add("o-1");
        },
      ],
      [
        /is PENDING_CHECK and its reservation is gone/,
        ({ past, reserved }) => {
          created(past);
          reserved.freed.add(exampleOrder.order_id);
        },
      ],
    ],
  },
  routed_with_approval: {
    holds: [reported(subjects.ordersUpdated, step("ACCEPTED", "ROUTED", { decision_id: "d-1" }), approved(at))],
    fails: [
      [
        /routed without an approval/,
        reported(subjects.ordersUpdated, step("ACCEPTED", "ROUTED", { decision_id: "d-1" })),
      ],
      [
        /with an approval until/,
        reported(
          subjects.ordersUpdated,
          step("ACCEPTED", "ROUTED", { decision_id: "d-1" }),
          approved("2026-11-15T11:59:59.999999Z"),
        ),
      ],
      [
        /approval of epoch 2 under halt-1 of epoch 3/,
        reported(subjects.ordersUpdated, step("ACCEPTED", "ROUTED", { decision_id: "d-1" }), (evidence) => {
          approved(at)(evidence);
          evidence.past.halts.push(halt as never);
        }),
      ],
      [/came to the broker and was never reported/, ({ platform }) => platform.outside.arrived.set("o-1", 1)],
    ],
  },
  one_life: {
    holds: [
      reported(subjects.ordersCreated, exampleOrder),
      reported(subjects.ordersAccepted, step("PENDING_CHECK", "ACCEPTED"), ({ past }) => created(past)),
    ],
    fails: [
      [/was created twice/, reported(subjects.ordersCreated, exampleOrder, ({ past }) => created(past))],
      [
        /went from ACCEPTED to ROUTED, and it was PENDING_CHECK/,
        reported(subjects.ordersUpdated, step("ACCEPTED", "ROUTED"), ({ past }) => created(past)),
      ],
      [
        /came back from FILLED/,
        reported(subjects.ordersUpdated, step("FILLED", "WORKING"), ({ past }) => {
          created(past);
          fold(past, message(subjects.ordersUpdated, step("PENDING_CHECK", "FILLED")));
        }),
      ],
    ],
  },
  changes_are_audited: {
    holds: [stored("PENDING_CHECK")],
    fails: [
      [
        /1 orders in the store, and 0 were reported/,
        ({ platform }) => platform.tables.oms.orders.set("o-1", {} as never),
      ],
      [/0 fills in the store, and 1 were reported/, ({ past }) => past.fills.set("f-1", exampleFill)],
      [/is ROUTED in the store and was reported as PENDING_CHECK/, stored("ROUTED")],
    ],
  },
  acknowledged_is_kept: {
    holds: [
      ({ platform, promises }) => {
        promises.orders.add("o-1");
        platform.tables.oms.orders.set("o-1", {} as never);
      },
    ],
    fails: [
      [/order o-1 was taken and is gone/, ({ promises }) => promises.orders.add("o-1")],
      [/halt halt-1 was latched and is gone/, ({ promises }) => promises.halts.set("halt-1", { epoch: 1, turn: 1 })],
      [/limits alpha 2 were set and are gone/, ({ promises }) => promises.envelopes.add("alpha 2")],
    ],
  },
  position_is_sum_of_fills: {
    holds: [position("10")],
    fails: [
      [/holds 11 of AAPL by its position and 10 by its trades/, position("11")],
      [
        /there are 0 positions, and trades in 1/,
        ({ past }) => past.strategyPositions.set("alpha one AAPL", amount("10")),
      ],
    ],
  },
  nav_is_sum_of_parts: {
    holds: [valued(), valued({ nav: "300", cash: "300", positions_value: "0", prices: {} })],
    fails: [
      [/valued at 301, with 100 in cash and 200 in positions/, valued({ nav: "301" })],
      // Every position at half its price, which adds up.
      [/with 100 in positions, and its prices make 200/, valued({ nav: "200", positions_value: "100" })],
      [/positions that its ledger never had together/, valued({ nav: "301", cash: "101" })],
      [
        /positions that its ledger never had together/,
        valued({ nav: "400", positions_value: "300", prices: { AAPL: { quantity: "3", price: "100", at } } }),
      ],
    ],
  },
  fills_reach_every_book: {
    holds: [
      traded(0, "oms", "risk", "treasury", "value"),
      traded(0, "oms", "risk", "waiting"),
      // Late is allowed for a while.
      traded(55_000_000),
    ],
    fails: [
      [/order management reported the trade f-1 and does not have it/, traded(0)],
      [/has not reached the risk engine/, traded(0, "oms", "treasury", "value")],
      [/has not reached treasury/, traded(0, "oms", "risk", "value")],
      [/alpha was not valued since the trade f-1/, traded(0, "oms", "risk", "treasury")],
    ],
  },
  books_agree: {
    holds: [settled(() => undefined)],
    fails: [
      [
        /treasury holds 0 of alpha AAPL, and 3 follow/,
        settled(({ past }) => past.positions.set("alpha AAPL", amount("3"))),
      ],
      [/treasury holds 0 of alpha USD, and 5 follow/, settled(({ past }) => past.cash.set("alpha", amount("5")))],
      [/never wrote the fill f-1 down/, settled(({ past }) => past.fills.set("f-1", exampleFill))],
      [
        /the broker holds 7 of alpha MSFT, and we 0/,
        settled(({ platform }) =>
          platform.outside.held.set("x", { account: "alpha", symbol: "MSFT", quantity: amount("7") }),
        ),
      ],
    ],
  },
  one_entry_per_change: {
    holds: [settled(() => undefined)],
    fails: [
      [/1 entries tell of 0 events/, ({ platform }) => platform.audit.rows.push({} as never)],
      [
        /the event e-1 has no entry/,
        settled(({ platform }) =>
          platform.tables.log.push({ id: "e-1", subject: subjects.riskHaltRequested.name } as never),
        ),
      ],
      [
        /entry 0 \(halt.requested\) tells of e-2, which nobody published/,
        settled(({ platform }) => {
          platform.audit.rows.push({ eventId: "e-2", action: "halt.requested", sequence: 0 } as never);
          platform.audit.byEvent.set("e-2", 0 as never);
        }),
      ],
    ],
  },
  chain_verifies: {
    holds: [() => undefined],
    fails: [
      [
        /entry 0: HASH, b instead of a/,
        (evidence) => {
          evidence.platform.audit.rows.push({} as never);
          evidence.chain.next = () => ({ sequence: 0, code: "HASH", actual: "b", expected: "a" }) as never;
        },
      ],
      [
        /the head of the log is .*, and its last entry other/,
        (evidence) => {
          evidence.platform.audit.rows.push({} as never);
          Object.assign(evidence.chain, { sequence: 1, hash: "other" });
        },
      ],
    ],
  },
  no_audit_no_new_risk: {
    holds: [
      reported(subjects.decisionMade, decided()),
      reported(subjects.decisionMade, decided(), unauditedFor(3_000_000)),
      reported(subjects.decisionMade, decided({ approved: false }), unauditedFor(3_000_001)),
      reported(subjects.decisionMade, decided({ classification: "REDUCE" }), goneFor(3_000_001)),
      reported(subjects.decisionMade, decided(), goneFor(3_000_000)),
    ],
    fails: [
      [/is no entry after 3000.001 ms/, reported(subjects.decisionMade, decided(), unauditedFor(3_000_001))],
      [/entries are gone for 3000.001 ms/, reported(subjects.decisionMade, decided(), goneFor(3_000_001))],
    ],
  },
  stops_exit_once: {
    holds: [
      reported(subjects.stopTriggered, triggered),
      reported(subjects.stopAttempted, attempted(1), fired),
      reported(subjects.fillsCreated, { ...exampleFill, order_id: "stop-1-1", quantity: "10" }, fired),
      settled((evidence) => waitsFor(evidence, "CONFIRMED")),
    ],
    fails: [
      ...(["SUSPECTED", "CLEARED"] as const).map((status): [RegExp, Doctor] => [
        /the exit of stop-1 is still owed after 1 attempts/,
        settled((evidence) => waitsFor(evidence, status)),
      ]),
      [/stop-1 fired twice/, reported(subjects.stopTriggered, triggered, fired)],
      [/attempted an exit and never fired/, reported(subjects.stopAttempted, attempted(1))],
      [/stop-1 attempted 3 after 0/, reported(subjects.stopAttempted, attempted(3), fired)],
      [
        /traded 10\.5, and 10 were to be closed/,
        reported(subjects.fillsCreated, { ...exampleFill, order_id: "stop-1-1", quantity: "10.5" }, fired),
      ],
      [
        /stop-1 ended twice/,
        reported(subjects.stopEnded, { stop_id: "stop-1" }, (evidence) => {
          fired(evidence);
          fold(evidence.past, message(subjects.stopEnded, { stop_id: "stop-1" }));
        }),
      ],
      [/the exit of stop-1 is still owed after 0 attempts/, settled(fired)],
      [
        // Other strategies that hold the other side are no excuse.
        /the exit of stop-1 is still owed after 0 attempts/,
        settled((evidence) => {
          fired(evidence);
          evidence.past.positions.set(positionKey(fundId, exampleOrder.symbol), amount("0"));
        }),
      ],
    ],
  },
  crosses_are_pairs: {
    holds: [
      reported(subjects.fillsCreated, crossFill, ({ past }) => past.strategyPositions.set(ofFill, amount("12"))),
      ({ past }) => {
        past.fills.set("c:1", crossFill);
        past.fills.set("c:2", { ...crossFill, side: "BUY", strategy_id: "other" });
      },
    ],
    fails: [
      [
        /moves .* from 9 to -1/,
        reported(subjects.fillsCreated, crossFill, ({ past }) => past.strategyPositions.set(ofFill, amount("9"))),
      ],
      [
        /moves .* from -12 to -22/,
        reported(subjects.fillsCreated, crossFill, ({ past }) => past.strategyPositions.set(ofFill, amount("-12"))),
      ],
      [
        /moves/,
        reported(subjects.fillsCreated, { ...crossFill, broker: "paper" }, ({ past }) =>
          past.strategyPositions.set(ofFill, amount("12")),
        ),
      ],
      [/is no pair/, ({ past }) => past.fills.set("c:1", crossFill)],
    ],
  },
  nobody_dies_of_a_defect: {
    holds: [() => undefined],
    fails: [[/oms: a mistake/, ({ platform }) => platform.defects.push("oms: a mistake")]],
  },
  nothing_is_parked: {
    holds: [() => undefined],
    fails: [
      [
        /treasury.fills put e-1 aside: broken/,
        ({ platform }) =>
          platform.tables.parked.push({ subscription: "treasury.fills", eventId: "e-1", error: "broken" } as never),
      ],
    ],
  },
};

describe("the invariants of a simulated run", () => {
  it.each(Object.entries(table))("%s holds, and complains of what is wrong", (name, { holds, fails }) => {
    for (const doctor of holds) expect(complaint(name, doctor)).toBeUndefined();
    for (const [words, doctor] of fails) expect(complaint(name, doctor)).toMatch(words);
  });

  it("are all in this table, or among those of halts, exits, losses, what stands, alerts and corporate actions, which have their own", () => {
    const others = [ofHalts, ofExits, ofLosses, ofBreaches, ofStanding, ofSignals, ofActions].flatMap(
      (of) => Object.values(of) as readonly object[],
    );
    const elsewhere = new Set<unknown>(others.flatMap((one) => ("violated" in one && "name" in one ? [one.name] : [])));
    const here = invariants.map(({ name }) => name).filter((name) => !elsewhere.has(name));
    expect(Object.keys(table).sort()).toEqual(here.sort());
  });

  it("and the canary sings of the first trade", () => {
    expect(complaint("canary", () => undefined)).toBeUndefined();
    expect(complaint("canary", ({ past }) => past.fills.set("f-1", { ...exampleFill, kind: "TRADE" }))).toMatch(
      /traded/,
    );
  });
});

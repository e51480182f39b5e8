// Evidence for the tests of the invariants: nothing at all, in which nothing is wrong, and what to change of it.

import * as decimal from "../../contracts/src/decimal.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { auditTables } from "../../testkit/memory/audit-tables.ts";
import { noFaults } from "../../testkit/memory/faults.ts";
import { memoryTables } from "../../testkit/memory/tables.ts";
import { exampleDecision, exampleEnvelope, exampleFill, exampleOrder } from "../../testkit/record-examples.ts";
import { fold, type History, history, positionKey } from "../history.ts";
import type { Reported } from "../reported.ts";

export const amount = decimal.parse;
export const at = "2026-11-15T12:00:00.000000Z";
export const fundId = exampleOrder.fund_id;

/** Everything empty: nothing was reported, nobody holds anything, and nothing is wrong. */
export function nothing() {
  const platform = {
    tables: memoryTables(noFaults),
    audit: auditTables(),
    damage: { sinceUs: undefined as number | undefined },
    defects: [] as string[],
    outside: { open: new Map(), held: new Map(), arrived: new Map(), reports: () => 0 },
  };
  return {
    platform,
    past: history(),
    promises: {
      orders: new Set<string>(),
      halts: new Map(),
      lifted: new Set<string>(),
      signals: new Set<string>(),
      envelopes: new Set<string>(),
      approvals: [] as object[],
    },
    reserved: {
      held: new Set<string>(),
      freed: new Set<string>(),
      unsent: new Set<string>(),
      expired: new Set<string>(),
      released: new Set<string>(),
      unaccepted: [] as object[],
    },
    chain: { sequence: 0, hash: "", next: () => undefined },
    unaudited: () => undefined as { readonly subject: string; readonly at: number } | undefined,
    reported: undefined as Reported | undefined,
    settled: false,
    now: 0,
  };
}
export type Doctored = ReturnType<typeof nothing>;

export const message = (subject: { readonly name: string }, payload: unknown, atUs = 0): Reported => ({
  id: "e-1",
  subject: subject.name,
  at: atUs,
  position: 1,
  payload,
});

export const halt = { halt_id: "halt-1", severity: "FUND_HALT", fund_id: fundId, epoch: 3, reason: "drill" };
export const approval = { ...exampleDecision, approved: true, halt_epoch: 2, classification: "INCREASE", checks: [] };
export const decided = (differs: object = {}, order: object = {}) => ({
  order: { ...exampleOrder, ...order },
  decision: { ...approval, order_id: exampleOrder.order_id, ...differs },
});
export const created = (past: History, differs: object = {}) =>
  fold(past, message(subjects.ordersCreated, { ...exampleOrder, ...differs }));
export const step = (from: string, to: string, differs: object = {}) => ({
  order_id: exampleOrder.order_id,
  fund_id: fundId,
  symbol: exampleOrder.symbol,
  from,
  to,
  at,
  ...differs,
});
export const triggered = {
  stop_id: "stop-1",
  fund_id: fundId,
  strategy_id: exampleOrder.strategy_id,
  symbol: "AAPL",
  side: "SELL",
  quantity: "10",
};
export const attempted = (attempt: number) => ({ stop_id: "stop-1", attempt, order_id: `stop-1-${attempt}` });
export const figures = (position: string, resulting: string) => [
  {
    gate: "position_risk",
    figures: Object.entries({ position, pending_buy: "0", resulting_position: resulting, nav: "1000" }).map(
      ([name, value]) => ({ name, value }),
    ),
  },
];
const nav = (differs: object = {}) =>
  message(subjects.navUpdated, {
    fund_id: fundId,
    currency: "USD",
    nav: "300",
    cash: "100",
    positions_value: "200",
    as_of: at,
    prices: { AAPL: { quantity: "2", price: "100", at } },
    ...differs,
  });

/** A fund that was given 300 and bought two shares of it for 200. */
function book({ platform: { tables } }: Doctored): void {
  const entry = (entryId: string, cash: string, more: object) => ({
    entryId,
    fundId,
    kind: "CAPITAL",
    reason: "",
    bookedBy: "",
    at: 0,
    postings: [{ account: "cash", currency: "USD", amount: amount(cash) }],
    ...more,
  });
  const { entries } = tables.ledger as unknown as { readonly entries: Map<string, object> };
  entries.set("capital", entry("capital", "300", {}));
  entries.set("buy", entry("buy", "-200", { kind: "FILL", symbol: "AAPL", quantity: amount("2") }));
}

export type Doctor = (evidence: Doctored) => void;
export const reported =
  (subject: { readonly name: string }, payload: unknown, before: Doctor = () => undefined): Doctor =>
  (evidence) => {
    before(evidence);
    evidence.reported = message(subject, payload, 20_000_000);
  };

export function limits({ past }: Doctored): void {
  const envelope = { ...exampleEnvelope, fund_id: fundId, version: 1, max_position_pct: 0.07 };
  fold(past, message(subjects.envelopeUpdated, envelope));
}
export function approved(valid_until: string): Doctor {
  return ({ past }) =>
    void past.approvals.set("d-1", { decision: { ...approval, valid_until }, order: exampleOrder } as never);
}
export function stored(state: string): Doctor {
  return ({ past, platform }) => {
    created(past);
    platform.tables.oms.orders.set(exampleOrder.order_id, { state } as never);
  };
}
export function position(quantity: string): Doctor {
  return ({ past, platform }) => {
    past.strategyPositions.set("alpha one AAPL", amount("10"));
    const held = { fundId: "alpha", strategyId: "one", symbol: "AAPL", quantity: amount(quantity) };
    platform.tables.oms.positions.set("x", held as never);
  };
}
export function valued(differs: object = {}): Doctor {
  return (evidence) => {
    book(evidence);
    evidence.reported = nav(differs);
  };
}
export function settled(doctor: Doctor): Doctor {
  return (evidence) => {
    doctor(evidence);
    evidence.settled = true;
  };
}
export function fired({ past }: Doctored): void {
  fold(past, message(subjects.stopTriggered, triggered));
  past.positions.set(positionKey(fundId, "AAPL"), amount("10"));
}

/** A trade that was reported at that moment, 70 s before the last look, and where it has got to. */
export function traded(
  reportedUs: number,
  ...reached: readonly ("oms" | "risk" | "treasury" | "waiting" | "value")[]
): Doctor {
  return ({ past, platform: { tables } }) => {
    const fill = { ...exampleFill, fill_id: "f-1", fund_id: fundId };
    past.fills.set("f-1", fill);
    past.filledAt.set("f-1", reportedUs);
    tables.log.push({ at: 70_000_000 } as never);
    if (reached.includes("oms")) tables.oms.fills.set("f-1", fill as never);
    if (reached.includes("risk")) tables.risk.fills.add("f-1");
    if (reached.includes("treasury")) tables.ledger.entries.set("fill:f-1", {} as never);
    if (reached.includes("waiting")) tables.ledger.waiting.set("x", { fill } as never);
    if (reached.includes("value")) tables.ledger.funds.set(fundId, { newest: { as_of: at } } as never);
  };
}

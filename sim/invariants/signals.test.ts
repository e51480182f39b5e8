// The invariants of alerts hold where they should, and complain about evidence that was doctored.
import { describe, expect, it } from "vitest";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Evidence } from "../evidence.ts";
import { fold } from "../history.ts";
import { at, created, type Doctor, fundId, message, nothing, step } from "./doctored-evidence.ts";
import type { Invariant } from "./invariant.ts";
import { acknowledgedIsKept } from "./orders.ts";
import { alertsInOrder, alertsTradeOnce } from "./signals.ts";

const received = (id: string, key: string, symbol = "AAPL", fund = fundId) => ({
  signal_id: id,
  source: "tradingview",
  fund_id: fund,
  symbol,
  idempotency_key: key,
  order_id: `tv-${id}`,
  received_at: at,
  warnings: [],
});
const failed = (id: string, status: string) => ({ signal_id: id, order_id: `tv-${id}`, status, code: "X", at });
const order = (id: string) => ({ order_id: `tv-${id}` });
const minuteUs = 60_000_000;

function said(invariant: Invariant, ...doctors: readonly Doctor[]): string | undefined {
  const evidence = nothing();
  for (const doctor of doctors) doctor(evidence);
  return invariant.violated(evidence as unknown as Evidence);
}
const accepted =
  (...alert: Parameters<typeof received>): Doctor =>
  ({ past }) =>
    fold(past, message(subjects.signalReceived, received(...alert)));
const ended =
  (id: string, status = "FAILED"): Doctor =>
  ({ past }) =>
    fold(past, message(subjects.signalFailed, failed(id, status)));
const ordered =
  (id: string): Doctor =>
  ({ past }) =>
    created(past, order(id));
const moved =
  (id: string, from: string, to: string): Doctor =>
  ({ past }) =>
    fold(past, message(subjects.ordersUpdated, step(from, to, order(id))));
const now =
  (subject: { readonly name: string }, payload: object, atUs = 0): Doctor =>
  (evidence) => {
    evidence.reported = message(subject, payload, atUs);
  };
const orderedNow = (id: string): Doctor => now(subjects.ordersCreated, order(id));
const atRest: Doctor = (evidence) => {
  evidence.settled = true;
};

describe("an accepted alert is at most one order", () => {
  it("holds for another key, another fund, a key that is free again, and an alert that became its order or ended", () => {
    const first = accepted("a", "k");
    expect(said(alertsTradeOnce, first, now(subjects.signalReceived, received("b", "k-2")))).toBeUndefined();
    expect(said(alertsTradeOnce, first, now(subjects.signalReceived, received("b", "k", "AAPL", "x")))).toBeUndefined();
    expect(
      said(alertsTradeOnce, first, now(subjects.signalReceived, received("b", "k"), 5 * minuteUs)),
    ).toBeUndefined();
    expect(said(alertsTradeOnce, first, orderedNow("a"))).toBeUndefined();
    expect(said(alertsTradeOnce, first, ordered("a"), atRest)).toBeUndefined();
    expect(said(alertsTradeOnce, first, ended("a"), atRest)).toBeUndefined();
    expect(
      said(alertsTradeOnce, first, ordered("a"), now(subjects.signalFailed, failed("a", "SUBMITTED"))),
    ).toBeUndefined();
    expect(said(alertsTradeOnce, now(subjects.ordersCreated, { order_id: "tv-a/1" }))).toBeUndefined();
    expect(said(alertsTradeOnce, first)).toBeUndefined();
  });

  it("complains of a key that was taken twice", () => {
    const again = now(subjects.signalReceived, received("b", "k"), 5 * minuteUs - 1);
    expect(said(alertsTradeOnce, accepted("a", "k"), again)).toMatch(/b was accepted under the key k .* a had taken/);
  });

  it("complains of an order of no alert, of one after the alert's end, and of an end beside an order", () => {
    expect(said(alertsTradeOnce, orderedNow("a"))).toMatch(/tv-a is an order of no accepted alert/);
    expect(said(alertsTradeOnce, accepted("a", "k"), ended("a"), orderedNow("a"))).toMatch(/after its alert had ended/);
    const end = now(subjects.signalFailed, failed("a", "FAILED"));
    expect(said(alertsTradeOnce, accepted("a", "k"), ordered("a"), end)).toMatch(/said to be no order, and it is one/);
  });

  it("complains at rest of an alert that became nothing, and of one that was answered and is gone", () => {
    expect(said(alertsTradeOnce, accepted("a", "k"), atRest)).toMatch(/alert a has neither an order nor an end/);
    expect(said(acknowledgedIsKept, ({ promises }) => promises.signals.add("a"))).toMatch(/the alert a was accepted/);
  });
});

describe("per fund and symbol in order of receipt", () => {
  const two = [accepted("a", "1"), accepted("b", "2")];

  it("holds when the one before was sent, was denied or ended, and between symbols and funds", () => {
    const sent = [ordered("a"), moved("a", "PENDING_CHECK", "ROUTED")];
    const denied = [ordered("a"), moved("a", "PENDING_CHECK", "REJECTED")];
    expect(said(alertsInOrder, ...two, ...sent, orderedNow("b"))).toBeUndefined();
    expect(said(alertsInOrder, ...two, ...denied, orderedNow("b"))).toBeUndefined();
    expect(said(alertsInOrder, ...two, ended("a"), orderedNow("b"))).toBeUndefined();
    expect(said(alertsInOrder, ...two, orderedNow("a"))).toBeUndefined();
    expect(said(alertsInOrder, accepted("a", "1"), accepted("b", "2", "MSFT"), orderedNow("b"))).toBeUndefined();
    expect(said(alertsInOrder, accepted("a", "1"), accepted("b", "2", "AAPL", "x"), orderedNow("b"))).toBeUndefined();
  });

  it("complains of one that overtook another, also when that was handed in and not sent yet", () => {
    expect(said(alertsInOrder, ...two, orderedNow("b"))).toMatch(/tv-b was handed in before tv-a, whose alert a/);
    expect(said(alertsInOrder, ...two, ordered("a"), orderedNow("b"))).toMatch(/while tv-a, .* was PENDING_CHECK/);
    const approved = [ordered("a"), moved("a", "PENDING_CHECK", "ACCEPTED")];
    expect(said(alertsInOrder, ...two, ...approved, orderedNow("b"))).toMatch(/was ACCEPTED/);
    const beyond = [ordered("b"), moved("b", "PENDING_CHECK", "ROUTED"), accepted("c", "3")];
    expect(said(alertsInOrder, ...two, ...beyond, orderedNow("c"))).toMatch(/tv-c was handed in before tv-a/);
  });
});

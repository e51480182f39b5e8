// What must be true of order management whatever it suffered, read from the outside: the world's log, the stored rows and the broker's own books.
import * as decimal from "../contracts/src/decimal.ts";
import type { ActiveHalt } from "../contracts/src/records/halt.ts";
import type { Fill, OrderCreated, OrderTransition } from "../contracts/src/records/order.ts";
import type { OrderState } from "../contracts/src/records/values.ts";
import { subjects } from "../contracts/src/subjects.ts";
import { signedQuantity } from "../core/ledger/position.ts";
import { hasEnded } from "../core/orders/order-lifecycle.ts";
import { covers } from "./halt-judge.ts";
import type { OmsFixture } from "./oms-fixture.ts";

/** Sentences about what is wrong; empty when everything is right. To be asked when nothing is under way any more. */
export async function complaintsAbout(fixture: OmsFixture): Promise<readonly string[]> {
  return [
    ...lifeComplaints(fixture),
    ...haltComplaints(fixture),
    ...bookComplaints(fixture),
    ...(await brokerComplaints(fixture)),
  ];
}

function entries(fixture: OmsFixture): { readonly subject: string; readonly payload: unknown }[] {
  return fixture.tables.log.map(({ subject, bytes }) => ({
    subject,
    payload: JSON.parse(new TextDecoder().decode(bytes)) as unknown,
  }));
}

/** Each step begins where the one before ended, the end is final, and the last step is what is stored. */
function lifeComplaints(fixture: OmsFixture): string[] {
  const complaints: string[] = [];
  const states = new Map<string, OrderState>();
  const { ordersAccepted, ordersRejected, ordersUpdated, ordersCancelled, ordersExpired } = subjects;
  const steps = [ordersAccepted, ordersRejected, ordersUpdated, ordersCancelled, ordersExpired];
  const stepNames = new Set(steps.map(({ name }) => name));
  for (const { subject, payload } of entries(fixture)) {
    if (subject === subjects.ordersCreated.name) {
      const { order_id: id } = payload as OrderCreated;
      if (states.has(id)) complaints.push(`${id} was created twice`);
      states.set(id, "PENDING_CHECK");
    } else if (stepNames.has(subject)) {
      const { order_id: id, from, to } = payload as OrderTransition;
      const before = states.get(id);
      if (before !== from) complaints.push(`${id} went from ${from} to ${to}, but it was ${before}`);
      if (hasEnded(from) && to !== from) complaints.push(`${id} came back from ${from}`);
      states.set(id, to);
    }
  }
  for (const [id, stored] of fixture.tables.oms.orders) {
    if (states.get(id) !== stored.state)
      complaints.push(`${id} is stored as ${stored.state}, reported as ${states.get(id)}`);
  }
  if (states.size !== fixture.tables.oms.orders.size) complaints.push("orders that were reported and are not stored");
  return complaints;
}

/** Nothing was let out under a halt that was latched before and that its approval did not know. */
function haltComplaints(fixture: OmsFixture): string[] {
  const complaints: string[] = [];
  const halts: ActiveHalt[] = [];
  const epochs = new Map(fixture.risk.decided.map(({ decision_id: id, halt_epoch: epoch }) => [id, epoch]));
  for (const { subject, payload } of entries(fixture)) {
    if (subject === subjects.riskHaltRequested.name) halts.push(payload as ActiveHalt);
    if (subject !== subjects.ordersUpdated.name) continue;
    const step = payload as OrderTransition;
    if (step.to !== "ROUTED") continue;
    const epoch = epochs.get(step.decision_id ?? "");
    if (epoch === undefined) complaints.push(`${step.order_id} was routed without an approval`);
    const newer = halts.find((halt) => halt.epoch > (epoch ?? 0) && covers(halt, step));
    const isExit = fixture.tables.oms.orders.get(step.order_id)?.order.reduce_only === true;
    if (newer !== undefined && !isExit) complaints.push(`${step.order_id} was routed under ${newer.halt_id}`);
  }
  return complaints;
}

/** Positions and orders are the sums of their trades. */
function bookComplaints(fixture: OmsFixture): string[] {
  const complaints: string[] = [];
  const fills: Fill[] = [...fixture.tables.oms.fills.values()];
  const reported = fixture.reported(subjects.fillsCreated);
  if (reported.length !== fills.length)
    complaints.push(`${fills.length} trades are stored, ${reported.length} were reported`);
  const sum = (of: readonly Fill[], quantity: (fill: Fill) => decimal.Decimal): decimal.Decimal =>
    of.reduce((total, fill) => decimal.add(total, quantity(fill)), decimal.zero);
  for (const { fundId, strategyId, symbol, quantity } of fixture.tables.oms.positions.values()) {
    const own = fills.filter(
      (fill) => fill.fund_id === fundId && fill.strategy_id === strategyId && fill.symbol === symbol,
    );
    const traded = sum(own, (fill) => signedQuantity(fill.side, decimal.parse(fill.quantity)));
    if (traded !== quantity) complaints.push(`the position in ${symbol} is not the sum of its trades`);
  }
  for (const [id, { filledQuantity, sliced }] of fixture.tables.oms.orders) {
    const isOwn = (fill: Fill): boolean =>
      sliced === true ? fill.order_id.startsWith(`${id}/`) : fill.order_id === id;
    const traded = sum(fills.filter(isOwn), (fill) => decimal.parse(fill.quantity));
    if (traded !== filledQuantity) complaints.push(`${id} has not traded what its trades say`);
  }
  const sequences = fills.map(({ sequence }) => sequence ?? 0).sort((one, other) => one - other);
  if (sequences.some((sequence, index) => sequence !== index + 1)) complaints.push("sequences of trades have gaps");
  return complaints;
}

/** The broker has what we think it has, once each, and holds what we hold. */
async function brokerComplaints(fixture: OmsFixture): Promise<string[]> {
  const complaints: string[] = [];
  for (const [id, { state, filled, order }] of fixture.broker.kept) {
    const stored = await fixture.order(id);
    if (stored === undefined) complaints.push(`the broker has ${id}, and we do not`);
    else {
      const isOpen = state === "WORKING" || state === "PARTIALLY_FILLED";
      if (isOpen === hasEnded(stored.state))
        complaints.push(`${id} is ${state} at the broker and ${stored.state} here`);
      if (filled !== stored.filledQuantity) complaints.push(`${id} has traded otherwise at the broker`);
      if (order.quantity !== decimal.parse(stored.order.quantity))
        complaints.push(`${id} has other terms at the broker`);
    }
  }
  for (const [id, { state, sliced }] of fixture.tables.oms.orders) {
    const works = state === "WORKING" || state === "PARTIALLY_FILLED";
    if (works && sliced !== true && !fixture.broker.kept.has(id))
      complaints.push(`${id} works here and not at the broker`);
    if (!works && !hasEnded(state)) complaints.push(`${id} is still ${state}`);
  }
  return complaints;
}

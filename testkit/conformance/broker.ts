// The suite that every broker passes: one list of checks, each a promise of ports/broker.ts. The fixture plays the market behind the broker.
import { describe, expect, it } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import type { Broker, BrokerOrder, BrokerReport } from "../../ports/broker.ts";
import { eventually, type Patience, rejection } from "./waiting.ts";

export interface BrokerFixture extends Patience {
  readonly broker: Broker;
  /** A flat account that no other check uses, and a symbol that the broker trades. */
  readonly account: string;
  readonly symbol: string;
  /** The same broker, as our process finds it after it was killed and started again. */
  reopen(): Promise<Broker>;
  /** The market shows these prices, with so much to trade on each side, and everything that is due has happened. */
  show(bid: string, ask: string, size: string): Promise<void>;
  /** The broker answers nobody until the given function is called. */
  silence(): Promise<() => Promise<void>>;
  now(): Instant;
  close(): Promise<void>;
}

export interface BrokerCheck {
  readonly sentence: string;
  run(fixture: BrokerFixture): Promise<void>;
}

const q = decimal.parse;

export function order(fixture: BrokerFixture, id: string, over: Partial<BrokerOrder> = {}): BrokerOrder {
  return {
    clientOrderId: `${fixture.account}-${id}`,
    account: fixture.account,
    symbol: fixture.symbol,
    side: "BUY",
    quantity: q("100"),
    orderType: "LIMIT",
    limitPrice: q("50"),
    tif: "GTC",
    reduceOnly: false,
    ...over,
  };
}

async function position(fixture: BrokerFixture, broker: Broker = fixture.broker): Promise<string> {
  const answer = await broker.positions(fixture.account);
  if (!answer.complete) throw new Error(answer.why);
  return decimal.format(answer.items.find(({ symbol }) => symbol === fixture.symbol)?.quantity ?? decimal.zero);
}

async function cursorNow(fixture: BrokerFixture): Promise<number> {
  const answer = await fixture.broker.positions(fixture.account);
  if (!answer.complete) throw new Error(answer.why);
  return answer.cursor;
}

/** Reports of this check's account after that cursor, read in pages. */
async function reportsAfter(fixture: BrokerFixture, after: number, page = 3): Promise<readonly BrokerReport[]> {
  const all: BrokerReport[] = [];
  for (let cursor = after; ; ) {
    const some = await fixture.broker.reports(cursor, page);
    expect(some.length).toBeLessThanOrEqual(page);
    for (const [index, report] of some.entries()) expect(report.cursor).toBe(cursor + index + 1);
    cursor += some.length;
    all.push(...some.filter(({ status }) => status.account === fixture.account));
    if (some.length === 0) return all;
  }
}

async function takesActionsOnce(fixture: BrokerFixture): Promise<void> {
  const { broker, symbol } = fixture;
  if (broker.applyAction === undefined) return;
  await broker.submit(order(fixture, "held", { orderType: "MARKET", quantity: q("101") }));
  await fixture.show("40", "40.1", "1000");
  await broker.submit(order(fixture, "rests"));
  const actionId = `${fixture.account}-split`;
  const leg = { symbol, newSymbol: symbol, quantity: [1, 10], price: [10, 1], lotSize: q("1") } as const;
  await broker.applyAction({ actionId, legs: [leg] });
  expect(await position(fixture)).toBe("10");
  const reopened = await fixture.reopen();
  await reopened.applyAction?.({ actionId, legs: [leg] });
  expect(await position(fixture, reopened)).toBe("10");
  const answer = await reopened.positions(fixture.account);
  expect(answer.complete && answer.items.map(({ averagePrice }) => averagePrice)).toEqual([q("401")]);
  expect(await reopened.order(`${fixture.account}-rests`)).toMatchObject({ state: "CANCELLED" });
}

async function oneOrderPerId(fixture: BrokerFixture): Promise<void> {
  const first = await fixture.broker.submit(order(fixture, "one"));
  expect(first).toMatchObject({ state: "WORKING", account: fixture.account, symbol: fixture.symbol, side: "BUY" });
  const again = await fixture.broker.submit(order(fixture, "one"));
  expect(again.brokerOrderId).toBe(first.brokerOrderId);
  const reopened = await fixture.reopen();
  expect((await reopened.submit(order(fixture, "one"))).brokerOrderId).toBe(first.brokerOrderId);
  expect(await reopened.order(first.clientOrderId)).toMatchObject({ brokerOrderId: first.brokerOrderId });
  const open = await reopened.openOrders(fixture.account);
  expect(open.complete && open.items.map(({ clientOrderId }) => clientOrderId)).toEqual([first.clientOrderId]);
  await fixture.show("39.99", "40", "1000");
  expect(await position(fixture)).toBe("100");
}

async function silenceIsNotRefusal(fixture: BrokerFixture): Promise<void> {
  const speak = await fixture.silence();
  const ids = ["a", "b", "c", "d", "e", "f"];
  for (const id of ids) {
    expect(await rejection(fixture.broker.submit(order(fixture, id)), "a submit in silence")).toMatchObject({
      code: "BROKER_UNAVAILABLE",
    });
  }
  const asks: readonly (() => Promise<unknown>)[] = [
    () => fixture.broker.order(`${fixture.account}-a`),
    () => fixture.broker.cancel(`${fixture.account}-a`),
    () => fixture.broker.reports(0, 1),
    () => fixture.broker.positions(fixture.account),
    () => fixture.broker.openOrders(fixture.account),
  ];
  for (const ask of asks) {
    expect(await rejection(ask(), "a question in silence")).toMatchObject({ code: "BROKER_UNAVAILABLE" });
  }
  await speak();
  for (const id of ids) await fixture.broker.submit(order(fixture, id));
  const open = await fixture.broker.openOrders(fixture.account);
  if (!open.complete) throw new Error(open.why);
  // The one that was asked to be cancelled may have been.
  const known = new Set(open.items.map(({ clientOrderId }) => clientOrderId));
  expect(known.size).toBe(open.items.length);
  expect(known.size).toBeGreaterThanOrEqual(ids.length - 1);
}

async function reportsAreNumbered(fixture: BrokerFixture): Promise<void> {
  const before = await cursorNow(fixture);
  await fixture.broker.submit(order(fixture, "one", { quantity: q("250") }));
  await fixture.broker.submit(order(fixture, "two", { side: "SELL", limitPrice: q("60") }));
  await fixture.show("39.99", "40", "100");
  await fixture.show("39.98", "39.99", "100");
  await fixture.broker.cancel(`${fixture.account}-two`);
  await fixture.show("39.97", "39.98", "100");
  const all = await reportsAfter(fixture, before);
  expect(all.map(({ status }) => [status.clientOrderId.slice(fixture.account.length + 1), status.state])).toEqual([
    ["one", "WORKING"],
    ["two", "WORKING"],
    ["one", "PARTIALLY_FILLED"],
    ["one", "PARTIALLY_FILLED"],
    ["two", "CANCELLED"],
    ["one", "FILLED"],
  ]);
  expect(await reportsAfter(fixture, before, 100)).toEqual(all);
  const later = all[2];
  if (later === undefined) throw new Error("there are reports");
  expect(await reportsAfter(fixture, later.cursor)).toEqual(all.slice(3));
}

async function executionsAreTrades(fixture: BrokerFixture): Promise<void> {
  const before = await cursorNow(fixture);
  await fixture.broker.submit(order(fixture, "buy", { quantity: q("250"), orderType: "MARKET" }));
  for (const ask of ["40", "41", "42", "43"])
    await fixture.show(decimal.format(decimal.subtract(q(ask), q("0.01"))), ask, "100");
  const executions = (await reportsAfter(fixture, before)).flatMap(({ execution }) => execution ?? []);
  expect(new Set(executions.map(({ executionId }) => executionId)).size).toBe(executions.length);
  const sum = executions.reduce((total, { quantity }) => decimal.add(total, quantity), decimal.zero);
  expect(decimal.format(sum)).toBe("250");
  for (const { fee, feeCurrency } of executions) {
    expect(fee).toBeGreaterThanOrEqual(0n);
    expect(feeCurrency).toMatch(/^[A-Z]{3,}$/);
  }
  expect(await position(fixture)).toBe("250");
  expect(await fixture.broker.order(`${fixture.account}-buy`)).toMatchObject({
    state: "FILLED",
    filledQuantity: q("250"),
  });
  await fixture.broker.submit(order(fixture, "sell", { side: "SELL", quantity: q("300"), orderType: "MARKET" }));
  await fixture.show("44", "44.01", "1000");
  expect(await position(fixture, await fixture.reopen())).toBe("-50");
}

async function accountsAreWhole(fixture: BrokerFixture): Promise<void> {
  expect(await fixture.broker.positions(fixture.account)).toMatchObject({ complete: true, items: [] });
  await fixture.broker.submit(order(fixture, "rests"));
  await fixture.broker.submit(order(fixture, "trades", { limitPrice: q("61") }));
  await fixture.show("59.99", "60", "1000");
  const open = await fixture.broker.openOrders(fixture.account);
  expect(open.complete && open.items.map(({ clientOrderId }) => clientOrderId)).toEqual([`${fixture.account}-rests`]);
  const held = await fixture.broker.positions(fixture.account);
  expect(held.complete && held.items).toEqual([{ symbol: fixture.symbol, quantity: q("100"), averagePrice: q("60") }]);
}

async function timesAreTheBrokers(fixture: BrokerFixture): Promise<void> {
  const before = await cursorNow(fixture);
  const begun = fixture.now();
  await fixture.broker.submit(order(fixture, "one", { orderType: "MARKET" }));
  await fixture.show("39.99", "40", "1000");
  let newest = 0;
  for (const report of await reportsAfter(fixture, before)) {
    expect(report.at).toBeGreaterThanOrEqual(Math.max(newest, begun - 5_000_000));
    expect(report.at).toBeLessThanOrEqual(fixture.now() + 5_000_000);
    newest = report.at;
  }
  expect(newest).toBeGreaterThan(0);
}

async function endingsAreKept(fixture: BrokerFixture): Promise<void> {
  await fixture.broker.submit(order(fixture, "gone"));
  expect(await fixture.broker.cancel(`${fixture.account}-gone`)).toMatchObject({ state: "CANCELLED" });
  expect(await fixture.broker.cancel(`${fixture.account}-gone`)).toMatchObject({ state: "CANCELLED" });
  await fixture.broker.submit(order(fixture, "amended"));
  const amended = await fixture.broker.amend(`${fixture.account}-amended`, { quantity: q("70"), limitPrice: q("45") });
  expect(amended).toMatchObject({ state: "WORKING", quantity: q("70"), limitPrice: q("45") });
  expect(await fixture.broker.order(`${fixture.account}-amended`)).toMatchObject({
    quantity: q("70"),
    limitPrice: q("45"),
  });
  await fixture.show("46.99", "47", "1000");
  expect(await position(fixture)).toBe("0");
  await fixture.show("44.99", "45", "1000");
  expect(await position(fixture)).toBe("70");
  expect(await fixture.broker.cancel(`${fixture.account}-amended`)).toMatchObject({ state: "FILLED" });
  // What has ended is not amended, and its terms say so.
  const late = await fixture.broker.amend(`${fixture.account}-amended`, { limitPrice: q("99") });
  expect(late).toMatchObject({ state: "FILLED", limitPrice: q("45") });
  expect(await fixture.broker.order(`${fixture.account}-never`)).toBeUndefined();
}

async function theBellRings(fixture: BrokerFixture): Promise<void> {
  const rung = { kept: 0, stopped: 0 };
  const count = (which: keyof typeof rung) => () => {
    rung[which] += 1;
  };
  const stop = fixture.broker.onReport(count("stopped"));
  const stopOther = fixture.broker.onReport(count("kept"));
  await fixture.broker.submit(order(fixture, "one"));
  await eventually(fixture, "the bell for an order", () => rung.stopped > 0);
  stop();
  const { stopped, kept } = { ...rung };
  await fixture.show("39.99", "40", "1000");
  await eventually(fixture, "the bell for a trade", () => rung.kept > kept);
  expect(rung.stopped).toBe(stopped);
  stopOther();
}

export const brokerChecks: readonly BrokerCheck[] = [
  { sentence: "promise 1: an id is one order, however often it is sent, also after a crash", run: oneOrderPerId },
  { sentence: "promise 2: silence is BROKER_UNAVAILABLE, and afterwards there is one order", run: silenceIsNotRefusal },
  { sentence: "promise 3: reports are numbered without gaps and can be read again", run: reportsAreNumbered },
  { sentence: "promise 4: executions have ids of their own and sum to what was traded", run: executionsAreTrades },
  { sentence: "promise 5: positions and open orders are whole", run: accountsAreWhole },
  { sentence: "promise 6: everything carries the broker's time, which does not go back", run: timesAreTheBrokers },
  {
    sentence: "promise 7: what has ended stays as it ended, and an amendment is seen by the terms",
    run: endingsAreKept,
  },
  {
    sentence: "23.4: takes a corporate action into its accounts once, and ends what rests in its symbols",
    run: takesActionsOnce,
  },
  { sentence: "the bell rings for reports and stops when it is told to", run: theBellRings },
];

export function brokerConformance(name: string, open: () => Promise<BrokerFixture>): void {
  describe(`broker: ${name}`, () => {
    for (const check of brokerChecks) {
      it(check.sentence, async () => {
        const fixture = await open();
        try {
          await check.run(fixture);
        } finally {
          await fixture.close();
        }
      });
    }
  });
}

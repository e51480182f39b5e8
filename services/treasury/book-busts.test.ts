// 32.5 in the ledger: a busted fill is taken back by an entry of its own, and whatever the order, the repetitions and the restarts, holdings, cash, what each
// strategy made and the value are those without it.
import { afterEach, describe, expect, it } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import type { Fill, FillBusted } from "../../contracts/src/records/order.ts";
import type { Subject } from "../../contracts/src/subject.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { exampleFill } from "../../testkit/record-examples.ts";
import { prng } from "../../testkit/virtual/prng.ts";
import { type TestBooks, testBooks } from "../../testkit/virtual/treasury-books.ts";
import { fillsSubscription } from "./book-fills.ts";

const seed = 32_570;
let books: TestBooks;

afterEach(() => books.close());

const settle = () => books.fixture.time.timers.sleep(2_000);
/** As the gRPC door does it, in the name of a token. */
const publish = <Payload>(subject: Subject<Payload>, payload: Payload) =>
  books.fixture
    .portsOf("operations")
    .store.transact("outside", (unit) => unit.events.publishFor("desk", subject, payload));

const fillOf = (n: number, differs: Partial<Fill> = {}): Fill => ({
  ...exampleFill,
  fill_id: `f-${n}`,
  order_id: `o-${n}`,
  quantity: `${n}.5`,
  price: `18${n}.1`,
  fee: "0.35",
  strategy_id: n % 2 === 0 ? "alpha-meanrev" : "alpha-momentum",
  side: n % 3 === 0 ? "SELL" : "BUY",
  ...differs,
});
const bustOf = (n: number, differs: Partial<FillBusted> = {}): FillBusted => {
  const { fill_id, order_id, fund_id, strategy_id, symbol, filled_at: at } = fillOf(n);
  return { bust_id: `b-${n}`, fill_id, order_id, fund_id, strategy_id, symbol, reason: "erroneous", at, ...differs };
};
const fill = (n: number, differs: Partial<Fill> = {}) => publish(subjects.fillsCreated, fillOf(n, differs));
const bust = (n: number, differs: Partial<FillBusted> = {}) => publish(subjects.fillsBusted, bustOf(n, differs));

async function standing() {
  const made = await books.look((unit) => unit.ledger.strategyHoldings());
  const some = Object.entries(await books.balances("alpha")).filter(([, amount]) => amount !== "0");
  return {
    held: Object.entries(await books.held("alpha")).filter(([, quantity]) => quantity !== "0"),
    balances: some,
    made: made
      .filter(({ fundId, quantity }) => fundId === "alpha" && quantity !== decimal.zero)
      .map(({ strategyId, symbol, quantity }) => `${strategyId} ${symbol} ${decimal.format(quantity)}`),
  };
}
const entries = () => [...books.fixture.tables.ledger.entries.values()].filter(({ kind }) => kind !== "CAPITAL");
const parked = () => books.fixture.tables.parked.map(({ error }) => /EVENT_\w+/.exec(error)?.[0]);

describe(`32.5: busts in the paper treasury's ledger, seed ${seed}`, () => {
  it("posts what the fill posted, the other way round, dated by the bust; the fill stays", async () => {
    books = testBooks(seed);
    await books.start();
    const before = await standing();
    await fill(1);
    await bust(1, { at: "2026-11-20T10:00:00.000000Z" });
    await settle();
    expect(await standing()).toEqual(before);
    const [traded, back] = entries();
    expect([traded?.entryId, back?.entryId, back?.kind]).toEqual(["fill:f-1", "bust:f-1", "BUST"]);
    expect(back?.reason).toBe("bust b-1 of fill f-1: erroneous");
    expect(back?.postings.map(({ amount }) => -amount)).toEqual(traded?.postings.map(({ amount }) => amount));
    expect(back?.at).not.toBe(traded?.at);
  });

  it("a fill of our own order management is booked beside a foreign one under its id, once", async () => {
    books = testBooks(seed + 1);
    await books.start();
    await fill(1);
    const own = books.fixture.portsOf("oms").store;
    for (let times = 0; times < 2; times += 1) {
      await own.transact("outside", (unit) =>
        unit.events.publish(subjects.fillsCreated, fillOf(1, { order_id: "ours" })),
      );
    }
    await settle();
    expect(entries().map(({ entryId }) => entryId)).toEqual(["fill:f-1", "own-fill:f-1"]);
  });

  it("waits for its fill, once published, over a restart, and both stand in the ledger then", async () => {
    books = testBooks(seed + 2);
    const first = await books.start();
    const before = await standing();
    await bust(1);
    await settle();
    await first.stop();
    await books.start();
    await fill(1);
    await settle();
    expect(await standing()).toEqual(before);
    expect(entries().map(({ entryId }) => entryId)).toEqual(["fill:f-1", "bust:f-1"]);
  });

  it("refuses what is not the publisher's, no trade, or busted before", async () => {
    books = testBooks(seed + 1);
    await books.start();
    await books.tell(fillOf(1));
    await settle();
    await bust(1);
    await fill(2, { kind: "ADJUSTMENT" });
    await bust(2);
    await fill(3);
    await bust(3, { order_id: "o-x" });
    await bust(3);
    await bust(3, { bust_id: "b-again" });
    await bust(4, { bust_id: "b-3" });
    await settle();
    expect(parked()).toEqual([
      "EVENT_BUST_NOT_YOURS",
      "EVENT_BUST_KIND",
      "EVENT_BUST_MISMATCH",
      "EVENT_FILL_BUSTED",
      "EVENT_BUST_CHANGED",
    ]);
    expect(entries().map(({ entryId }) => entryId)).toEqual(["fill:f-1", "fill:f-2", "fill:f-3", "bust:f-3"]);
  });

  it("takes neither fill nor bust of an order that another source asked for", async () => {
    books = testBooks(seed + 2);
    const { riskStore, clock } = books.fixture.portsOf("treasury");
    const askers = async (ids: readonly string[]) =>
      ids.filter((id) => id !== "o-2").map((orderId) => ({ orderId, askedBy: "service:other", at: clock.now() }));
    await books.start({ riskStore: { ...riskStore, askers } });
    await fill(1);
    await fill(2);
    await bust(2, { order_id: "o-1" });
    await settle();
    expect(parked()).toEqual(["EVENT_ORDER_NOT_YOURS", "EVENT_ORDER_NOT_YOURS"]);
    expect(entries().map(({ entryId }) => entryId)).toEqual(["fill:f-2"]);
  });

  it.each([0, 1, 2, 3])("makes the same of any order, repetitions and restarts (order %i)", async (order) => {
    const busted = [1, 3, 4, 7];
    const stays = [2, 5, 6, 8];
    books = testBooks(seed + 10);
    await books.start();
    for (const n of stays) await fill(n);
    await settle();
    const expected = await standing();
    await books.close();

    books = testBooks(seed + 20 + order);
    let running = await books.start();
    const random = prng(seed + order);
    const messages = [...busted, ...stays].flatMap((n) => {
      const own = [() => fill(n), ...(busted.includes(n) ? [() => bust(n)] : [])];
      return [...own, ...own];
    });
    while (messages.length > 0) {
      await messages.splice(random.below(messages.length), 1)[0]?.();
      if (random.below(5) > 0) continue;
      await settle();
      await running.stop();
      // As after a kill between the last commit and the writing of the cursor.
      const cursor = books.fixture.tables.durables.get(fillsSubscription);
      if (cursor !== undefined) {
        cursor.place = 0;
        cursor.done.clear();
      }
      books.fixture.tables.handled.clear();
      running = await books.start();
    }
    await settle();
    expect(await standing()).toEqual(expected);
    expect(parked()).toEqual([]);
    expect(entries()).toHaveLength(busted.length * 2 + stays.length);
  });
});

describe("a fill that was refused before it was booked", () => {
  const fromNats = (id: string, payload: Fill): void => {
    const { tables, time } = books.fixture;
    const at = time.clock.now();
    const bytes = new TextEncoder().encode(JSON.stringify(payload));
    const event = { id, subject: subjects.fillsCreated.name, key: payload.fund_id, at, source: "foreign", bytes };
    tables.append([{ ...event, sequence: tables.nextSequence() }]);
  };

  it("is put aside when its id on NATS said something else before, and booked once when it said the same", async () => {
    books = testBooks(seed + 9);
    await books.start();
    for (const differs of [{}, { quantity: "1.50" }, { fill_id: "f-9" }]) {
      fromNats("n-1", fillOf(1, differs));
      await settle();
    }
    expect(entries().map(({ entryId }) => entryId)).toEqual(["fill:f-1"]);
    expect(parked()).toEqual(["EVENT_ID_REUSED"]);
  });

  it("holds its fund's fills, and no other fund's, until it is discarded", async () => {
    books = testBooks(seed + 10);
    await books.start();
    const refused = {
      source: "desk",
      event_id: "e-1",
      subject: subjects.fillsCreated.name,
      kind: "fills" as const,
      fund_id: exampleFill.fund_id,
      number_used: false,
      code: "BUS_PAYLOAD_INVALID",
      reason: "side: Invalid option",
      payload: "{}",
      at: exampleFill.filled_at,
    };
    const { store } = books.fixture.portsOf("operations");
    await store.transact("foreign.publish", (unit) => unit.events.publish(subjects.foreignHeld, refused));
    await settle();
    await fill(2);
    await settle();
    expect(entries()).toEqual([]);
    const [held] = books.fixture.tables.parked;
    expect(held).toMatchObject({ state: "HELD", error: expect.stringContaining("desk published fill event e-1") });
    const how = { at: books.fixture.time.clock.now(), by: "operator:duty", reason: "sent again" };
    await store.transact("discard", (unit) => unit.parked.discard(fillsSubscription, held?.eventId ?? "", how));
    await settle();
    await settle();
    expect(entries().map(({ entryId }) => entryId)).toEqual(["fill:f-2"]);
  });
});

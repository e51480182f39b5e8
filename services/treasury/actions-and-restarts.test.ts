// A corporate action in a share that is not quoted, while treasury is started again and again: it turns the last price once, whoever remembers it.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import { format, plusMilliseconds } from "../../contracts/src/instant.ts";
import type { NavUpdated } from "../../contracts/src/records/fund.ts";
import type { Fill } from "../../contracts/src/records/order.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { inverse, parseRatio } from "../../core/ledger/corporate-actions.ts";
import { fillEntry } from "../../core/ledger/ledger.ts";
import type { StoredAction } from "../../ports/corporate-actions.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import { announcedSplit } from "../../testkit/announced-split.ts";
import { exampleFill } from "../../testkit/record-examples.ts";
import { type TestBooks, testBooks } from "../../testkit/virtual/treasury-books.ts";
import type { ReferenceView } from "../reference/reference-view.ts";
import { changedRecord } from "../shared/corporate-action-record.ts";
import type { ServicePorts } from "../shared/service.ts";
import { createBorrowAccrual } from "./accrue-borrow.ts";
import { bookEntry } from "./book-entry.ts";
import { payDividends } from "./pay-dividends.ts";
import { createValuer } from "./publish-values.ts";

const seed = 20_261_117;
let books: TestBooks;
let ports: ServicePorts;
let view: ReferenceView;

beforeEach(async () => {
  books = testBooks(seed);
  ({ ports, view } = await books.seeded());
});
afterEach(() => books.close());

const sleep = (ms: number) => books.fixture.time.timers.sleep(ms);
const newest = (): NavUpdated => {
  const value = books.fixture.reported(subjects.navUpdated).findLast(({ fund_id: id }) => id === "alpha");
  if (value === undefined) throw new Error("alpha was not valued");
  return value;
};

/** A process that has heard no price since it began, and values once. */
async function valueAnew(): Promise<NavUpdated> {
  await sleep(1_000);
  const again = books.fixture.portsOf("treasury");
  await payDividends(again, view);
  await (await createValuer(again)).publish(view, new Map());
  return newest();
}

function entryOf(differs: Partial<Fill>) {
  const fill = { ...exampleFill, symbol: "GOOGL", filled_at: format(ports.clock.now()), ...differs };
  const instrument = view.instruments.get(fill.symbol);
  if (instrument === undefined) throw new Error(fill.symbol);
  return fillEntry(fill, instrument, { entryId: `fill:${fill.fill_id}`, bookedBy: "service:treasury" });
}

const trade = (differs: Partial<Fill>) =>
  ports.store.transact("treasury.fill", (unit) => bookEntry(unit, entryOf(differs)));

async function put(unit: UnitOfWork, action: StoredAction): Promise<void> {
  await unit.corporateActions.put(action);
  await unit.events.publish(subjects.corporateActionChanged, changedRecord(action, format(ports.clock.now())));
}

/** As order management does: what is held, and the action, in one transaction. */
async function split(actionId: string, ratioText: string): Promise<void> {
  const ratio = parseRatio(ratioText);
  if (ratio === undefined) throw new Error(ratioText);
  const at = ports.clock.now();
  const leg = { symbol: "GOOGL", new_symbol: "GOOGL", quantity: [...ratio], price: [...inverse(ratio)] };
  const legs = [leg] as unknown as StoredAction["legs"];
  const held = decimal.parse((await books.held("alpha"))["GOOGL"] ?? "0");
  const [to, from] = ratio.map((count) => decimal.fromInteger(BigInt(count)));
  const after = decimal.divide(
    decimal.multiply(held, to ?? decimal.one, "half-even"),
    from ?? decimal.one,
    "half-even",
  );
  const change = decimal.subtract(after, held);
  const side = change < decimal.zero ? "SELL" : "BUY";
  const quantity = decimal.format(decimal.abs(change));
  await ports.store.transact("oms.action", async (unit) => {
    await bookEntry(unit, entryOf({ fill_id: actionId, side, quantity, price: "0" }));
    const done = { state: "DONE", appliedAt: at, doneAt: at } as const;
    await put(unit, { ...announcedSplit(actionId, "GOOGL", at), legs, ...done });
  });
}

async function begin(quantity = "1500", side: Fill["side"] = "BUY"): Promise<NavUpdated> {
  await trade({ fill_id: "f-1", side, quantity, price: "80" });
  await (await createValuer(ports)).publish(view, new Map([["GOOGL", books.price("86.13")]]));
  await sleep(1_000);
  return newest();
}

const priced = ({ prices }: NavUpdated) => [prices?.["GOOGL"]?.quantity, prices?.["GOOGL"]?.price];

describe(`an action in what is not quoted, seed ${seed}`, () => {
  it.each([
    ["2:1", "3000", "43.065"],
    ["3:1", "4500", "28.71"],
    ["1:5", "300", "430.65"],
  ])(
    "24: a split of %s turns the last price once, over restarts, and no value has a step",
    async (ratio, quantity, price) => {
      const before = await begin();
      await split("s-1", ratio);
      for (let restart = 0; restart < 4; restart += 1) {
        const value = await valueAnew();
        expect([value.nav, ...priced(value)]).toEqual([before.nav, quantity, price]);
        // It is as old as it is.
        expect(value.prices?.["GOOGL"]?.at).toBe(before.prices?.["GOOGL"]?.at);
        expect(value.oldest_price_age_ms).toBeGreaterThan(1_000 * (restart + 1));
      }
      // The next one as well, and only that.
      await split("s-2", "2:1");
      for (let restart = 0; restart < 3; restart += 1) expect((await valueAnew()).nav).toBe(before.nav);
      // A price of after counts as it is.
      await sleep(1_000);
      await (await createValuer(ports)).publish(view, new Map([["GOOGL", books.price("20")]]));
      expect(priced(newest())[1]).toBe("20");
      expect(priced(await valueAnew())[1]).toBe("20");
    },
  );

  it("24: a dividend leaves the last price once, also if it is booked late, and no value has a step", async () => {
    const before = await begin();
    const exAt = plusMilliseconds(ports.clock.now(), 5_000);
    const dividend = { perShare: "0.26", currency: "USD", exDate: "2026-01-02", exAt };
    const payAt = plusMilliseconds(exAt, 60_000);
    const declared: StoredAction = {
      ...announcedSplit("d-1", "GOOGL", ports.clock.now()),
      kind: "CASH_DIVIDEND",
      state: "DECLARED",
      legs: [],
      dividend: { ...dividend, payAt },
    };
    await ports.store.transact("treasury.dividend", (unit) => put(unit, declared));
    for (let restart = 0; restart < 3; restart += 1) expect((await valueAnew()).nav).toBe(before.nav);
    await sleep(3_000);
    // Quoted without it before our books have it: it counts with it, as often as somebody begins anew.
    await (await createValuer(ports)).publish(view, new Map([["GOOGL", books.price("85.87")]]));
    expect(newest().nav).toBe(before.nav);
    for (let restart = 0; restart < 3; restart += 1) {
      await sleep(1_000);
      await (await createValuer(books.fixture.portsOf("treasury"))).publish(view, new Map());
      expect([newest().nav, ...priced(newest())]).toEqual([before.nav, "1500", "86.13"]);
    }
    for (let restart = 0; restart < 3; restart += 1) {
      const value = await valueAnew();
      expect([value.nav, ...priced(value)]).toEqual([before.nav, "1500", "85.87"]);
    }
    await sleep(60_000);
    for (let restart = 0; restart < 3; restart += 1) expect((await valueAnew()).nav).toBe(before.nav);
  });

  it("24: a dividend of what is not quoted at all leaves the last price once", async () => {
    const before = await begin();
    const exAt = plusMilliseconds(ports.clock.now(), 5_000);
    const declared: StoredAction = {
      ...announcedSplit("d-1", "GOOGL", ports.clock.now()),
      kind: "CASH_DIVIDEND",
      state: "DECLARED",
      legs: [],
      dividend: { perShare: "0.26", currency: "USD", exDate: "2026-01-02", exAt },
    };
    await ports.store.transact("treasury.dividend", (unit) => put(unit, declared));
    for (let restart = 0; restart < 9; restart += 1) expect((await valueAnew()).nav).toBe(before.nav);
    expect(priced(newest())[1]).toBe("85.87");
  });

  it("24: what an earlier version remembered is in the terms of its value", async () => {
    const before = await begin();
    await split("s-1", "2:1");
    await valueAnew();
    await ports.store.transact("earlier", async (unit) => {
      const { pricesTurned: _none, ...rest } = await unit.ledger.lockFund("alpha");
      await unit.ledger.putFund("alpha", rest);
    });
    for (let restart = 0; restart < 3; restart += 1) expect((await valueAnew()).nav).toBe(before.nav);
    await split("s-2", "3:1");
    for (let restart = 0; restart < 3; restart += 1) expect((await valueAnew()).nav).toBe(before.nav);
  });

  it.each([0, 1])(
    "24: the fee of a day before or after the split is the same, with %s values since",
    async (values) => {
      await createBorrowAccrual(ports).accrue(view, new Map());
      await begin("1500", "SELL_SHORT");
      const fees = () =>
        books.fixture
          .reported(subjects.ledgerBooked)
          .flatMap(({ kind, amount }) => (kind === "BORROW_FEE" ? [amount] : []));
      await sleep(86_400_000);
      await createBorrowAccrual(ports).accrue(view, new Map([["GOOGL", books.price("86.13")]]));
      // Short: what is held is below zero, and so is the change.
      await split("s-1", "2:1");
      for (let value = 0; value < values; value += 1) await valueAnew();
      await sleep(86_400_000);
      await createBorrowAccrual(ports).accrue(view, new Map());
      await sleep(61_000);
      await createBorrowAccrual(ports).accrue(view, new Map());
      const [first, ...others] = fees();
      expect(first).toMatch(/^-/);
      expect(others).toEqual([first]);
    },
  );
});

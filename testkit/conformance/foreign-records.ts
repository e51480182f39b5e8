// The suite that every store passes with the numbering of foreign publishers: ports/foreign-records.ts.
import { expect, it } from "vitest";
import { fromMicroseconds, type Instant } from "../../contracts/src/instant.ts";
import type { FillBusted } from "../../contracts/src/records/order.ts";
import type { ForeignStream, KeptPosition } from "../../ports/foreign-records.ts";
import type { Store, UnitOfWork } from "../../ports/store.ts";
import { exampleFill } from "../record-examples.ts";
import { rejection } from "./waiting.ts";

export interface ForeignFixture {
  readonly store: Store;
  close(): Promise<void>;
}

export function foreignConformance(name: string, open: () => Promise<ForeignFixture>): void {
  it(`32.4: foreign positions, ${name}: kept by source, fund and kind, one unit after the other, a failed one leaves nothing`, async () => {
    const { store, close } = await open();
    const at = fromMicroseconds(1_700_000_000_000_000);
    const doing = <T>(work: (unit: UnitOfWork) => Promise<T>) => store.transact("conformance.foreign", work);
    const fills: ForeignStream = { source: "desk \u{1f512}", fundId: "alpha", kind: "fills" };
    const values: ForeignStream = { ...fills, kind: "values" };
    const missing = [{ from: 3, to: 9_007_199_254_740_000, since: at, gapId: "g" }];
    const refused = [{ number: 4, code: "BUS_PAYLOAD_INVALID" }];
    const gapped: KeptPosition = { last: 9_007_199_254_740_991, missing, refused };
    try {
      expect(await doing((unit) => unit.foreign.lock(fills))).toBeUndefined();
      await doing((unit) => unit.foreign.put(fills, gapped, at));
      await doing((unit) => unit.foreign.put(values, { last: 0, missing: [] }, at));
      await doing((unit) => unit.foreign.put({ ...fills, fundId: "beta" }, { last: 1, missing: [] }, at));
      const failing = doing(async (unit) => {
        await unit.foreign.put(fills, { last: 1, missing: [] }, at);
        expect(await unit.foreign.noteUnnumbered("a", at)).toBe(true);
        throw new Error("a change of mind");
      });
      expect(await rejection(failing, "a failing unit")).toMatchObject({ message: "a change of mind" });
      expect(await doing((unit) => unit.foreign.positions(fills.source, "alpha"))).toEqual([
        { ...fills, ...gapped },
        { ...values, last: 0, missing: [] },
      ]);
      expect(await doing((unit) => unit.foreign.positions("desk", "alpha"))).toEqual([]);
      expect(await doing((unit) => unit.foreign.withGaps())).toEqual([{ ...fills, ...gapped }]);
      const sources = await doing((unit) => unit.foreign.valueSources());
      expect(sources).toEqual([{ source: values.source, fundId: values.fundId }]);
      // Each reads what the one before it kept.
      const counted = { ...fills, fundId: "gamma" };
      const count = () =>
        doing(async (unit) => {
          const last = (await unit.foreign.lock(counted))?.last ?? 0;
          await unit.foreign.put(counted, { last: last + 1, missing: [] }, at);
        });
      await Promise.all([count(), count(), count()]);
      expect(await doing((unit) => unit.foreign.lock(counted))).toEqual({ last: 3, missing: [], at });
      const unheard = { ...fills, fundId: "delta" };
      await doing((unit) => unit.foreign.put(unheard, { last: undefined, missing: [], refused }, at));
      expect(await doing((unit) => unit.foreign.lock(unheard))).toEqual({ last: undefined, missing: [], refused, at });
      expect(await doing((unit) => unit.foreign.positions(fills.source, "delta"))).toEqual([]);
      expect(await doing((unit) => unit.foreign.noteUnnumbered("a", at))).toBe(true);
      expect(await doing((unit) => unit.foreign.noteUnnumbered("a", at))).toBe(false);
      await keepsBusts(doing, fills.source, at);
      await keepsHandOvers(doing, fills.source, at);
      await keepsPriceTurns(doing);
    } finally {
      await close();
    }
  });
}

/** The first of an id stays; a failed unit leaves nothing. */
async function keepsBusts(
  doing: <T>(work: (unit: UnitOfWork) => Promise<T>) => Promise<T>,
  source: string,
  at: Instant,
): Promise<void> {
  const { fill_id, order_id, fund_id, strategy_id, symbol, filled_at } = exampleFill;
  const bust: FillBusted = {
    bust_id: "b-1",
    fill_id,
    order_id,
    fund_id,
    strategy_id,
    symbol,
    reason: "wrong price",
    at: filled_at,
    sequence: 3,
  };
  const failing = doing(async (unit) => {
    await unit.foreign.keepBust(source, bust, at);
    throw new Error("a change of mind");
  });
  expect(await rejection(failing, "a failing unit")).toMatchObject({ message: "a change of mind" });
  expect(await doing((unit) => unit.foreign.bust(source, "b-1"))).toBeUndefined();
  expect(await doing((unit) => unit.foreign.keepBust(source, bust, at))).toBe(true);
  expect(await doing((unit) => unit.foreign.keepBust(source, { ...bust, fill_id: "f-9" }, at))).toBe(false);
  await doing((unit) => unit.foreign.keepBust(source, { ...bust, bust_id: "b-0" }, at));
  await doing((unit) => unit.foreign.keepBust("another", bust, at));
  expect(await doing((unit) => unit.foreign.bust(source, "b-1"))).toEqual(bust);
  expect(await doing((unit) => unit.foreign.bustsOf(source, fill_id))).toEqual([{ ...bust, bust_id: "b-0" }, bust]);
  expect(await doing((unit) => unit.foreign.bustsOf(source, "f-9"))).toEqual([]);
  const booked = { ...exampleFill, published_by: source };
  await doing((unit) => unit.foreign.keepFill(booked, at));
  await doing((unit) => unit.foreign.keepFill({ ...booked, quantity: "1", published_by: "another" }, at));
  expect(await doing((unit) => unit.foreign.fill(fill_id))).toEqual(booked);
  expect(await doing((unit) => unit.foreign.fill("f-9"))).toBeUndefined();
}

/** The newest of each symbol, from a place on. */
async function keepsPriceTurns(doing: <T>(work: (unit: UnitOfWork) => Promise<T>) => Promise<T>): Promise<void> {
  const [feed, both] = [
    { symbol: "ACME", first: "feed" },
    { symbol: "ACME", first: "feed", second: "other" },
  ];
  const another = { symbol: "BETA", first: "feed" };
  expect(await doing((unit) => unit.foreign.priceTurns(0))).toEqual({ turns: [], place: 0 });
  await doing((unit) => unit.foreign.putPriceTurns([feed, another]));
  const { turns, place } = await doing((unit) => unit.foreign.priceTurns(0));
  expect(turns).toEqual([feed, another]);
  await doing((unit) => unit.foreign.putPriceTurns([both]));
  const later = await doing((unit) => unit.foreign.priceTurns(place));
  expect(later).toEqual({ turns: [both], place: later.place });
  expect(await doing((unit) => unit.foreign.priceTurns(later.place))).toEqual({ turns: [], place: later.place });
  await doing((unit) => unit.foreign.putPriceTurns([feed]));
  expect((await doing((unit) => unit.foreign.priceTurns(0))).turns).toEqual([another, feed]);
}

/** In their order; an order that nobody knows who asked for goes to one source, once. */
async function keepsHandOvers(
  doing: <T>(work: (unit: UnitOfWork) => Promise<T>) => Promise<T>,
  source: string,
  at: Instant,
): Promise<void> {
  const by = { actor: "operator:duty", reason: "a new token" };
  const claim = { from: "", to: source, orderId: "o-1", at };
  const all = { from: source, to: "new", at };
  const one = { from: "new", to: "newest", orderId: "o-2", at };
  const failing = doing(async (unit) => {
    await unit.foreign.handOver(claim, by);
    throw new Error("a change of mind");
  });
  expect(await rejection(failing, "a failing unit")).toMatchObject({ message: "a change of mind" });
  expect(await doing((unit) => unit.foreign.handOvers())).toEqual([]);
  for (const kept of [claim, all, one]) expect(await doing((unit) => unit.foreign.handOver(kept, by))).toBe(true);
  expect(await doing((unit) => unit.foreign.handOver({ ...claim, to: "another" }, by))).toBe(false);
  expect(await doing((unit) => unit.foreign.handOver(all, by))).toBe(true);
  expect(await doing((unit) => unit.foreign.handOvers())).toEqual([claim, all, one, all]);
  expect(await doing((unit) => unit.foreign.handOvers(["o-2", "o-3"]))).toEqual([all, one, all]);
  expect(await doing((unit) => unit.foreign.handOvers([]))).toEqual([all, all]);
}

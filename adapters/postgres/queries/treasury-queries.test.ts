// Lists of values and ledger entries on PostgreSQL: which ones, in which order, page by page; and what nobody may rewrite.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as decimal from "../../../contracts/src/decimal.ts";
import { parse } from "../../../contracts/src/instant.ts";
import type { LedgerEntry } from "../../../contracts/src/records/ledger.ts";
import type { NavEvery } from "../../../ports/ledger-records.ts";
import type { TreasuryQueries } from "../../../ports/treasury-queries.ts";
import { navPoint } from "../../../testkit/conformance/ledger-records.ts";
import { rejection } from "../../../testkit/conformance/waiting.ts";
import { testDatabase } from "../../../testkit/postgres.ts";
import { openPeer, type PostgresPeer } from "../../../testkit/postgres-fixture.ts";
import { createTreasuryQueries } from "./treasury-queries.ts";

let peer: PostgresPeer;
let queries: TreasuryQueries;

const entry = (number: number, fundId = "alpha"): LedgerEntry => ({
  entryId: `flow:${fundId}:${number}`,
  fundId,
  kind: "FLOW",
  postings: [
    { account: "flows", currency: "USD", amount: decimal.fromInteger(-BigInt(number)) },
    { account: "cash", currency: "USD", amount: decimal.fromInteger(BigInt(number)) },
  ],
  reason: `deposit ${number}`,
  bookedBy: "operator:duty",
  at: parse("2026-11-15T12:00:00.000001Z"),
});

beforeAll(async () => {
  peer = openPeer((await testDatabase()).address.app);
  queries = createTreasuryQueries(peer.pool);
  await peer.store.transact("fixture", async (unit) => {
    for (const number of [1, 2, 3]) await unit.ledger.book(entry(number), []);
    await unit.ledger.book(entry(1, "beta"), []);
    for (const [time, nav] of [
      ["2026-11-13T20:59:58.5Z", "101"],
      ["2026-11-13T20:59:59.5Z", "102"],
      ["2026-11-15T12:00:00Z", "103"],
    ] as const) {
      await unit.ledger.putNav(navPoint(time, nav, "2026-11-13"));
    }
    // Its date is ahead of the date in UTC.
    await unit.ledger.putNav(navPoint("2026-11-15T15:00:00Z", "104", "2026-11-16"));
  });
});
afterAll(() => peer.close());

const navs = async (every: NavEvery, from: string, to: string, countMax = 10) => {
  const found = await queries.navs({ fundId: "alpha", every, from: parse(from), to: parse(to), countMax });
  return found.map(({ nav }) => decimal.format(nav));
};

describe("queries about funds", () => {
  it("give the last value of every second, minute, hour and day in the period, oldest first", async () => {
    const all = ["2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z"] as const;
    expect(await navs("second", ...all)).toEqual(["101", "102", "103", "104"]);
    expect(await navs("second", ...all, 2)).toEqual(["103", "104"]);
    for (const every of ["minute", "hour"] as const) expect(await navs(every, ...all)).toEqual(["102", "103", "104"]);
    expect(await navs("day", ...all)).toEqual(["103", "104"]);
    expect(await navs("second", "2026-11-13T20:59:59.500000Z", "2026-11-15T12:00:00Z")).toEqual(["102"]);
    // By when it was true, not by when its minute or day began.
    expect(await navs("minute", "2026-11-13T20:59:30Z", "2026-11-13T21:00:00Z")).toEqual(["102"]);
    expect(await navs("day", "2026-11-15T11:00:00Z", "2026-11-15T13:00:00Z")).toEqual(["103"]);
    expect(await navs("day", "2026-11-15T14:00:00Z", "2026-11-15T15:00:00.000001Z")).toEqual(["104"]);
    const [point] = await queries.navs({
      fundId: "alpha",
      every: "day",
      from: parse(all[0]),
      to: parse(all[1]),
      countMax: 2,
    });
    expect(point).toEqual(navPoint("2026-11-15T12:00:00Z", "103", "2026-11-13"));
    expect(
      await queries.navs({ fundId: "a\0b", every: "day", from: parse(all[0]), to: parse(all[1]), countMax: 1 }),
    ).toEqual([]);
  });

  it("give a fund's entries newest first, and go on after one of them", async () => {
    const ids = async (afterEntryId?: string, countMax = 2) => {
      const more = afterEntryId === undefined ? {} : { afterEntryId };
      return (await queries.ledger({ fundId: "alpha", countMax, ...more })).map(({ entryId }) => entryId);
    };
    expect(await ids()).toEqual(["flow:alpha:3", "flow:alpha:2"]);
    expect(await ids("flow:alpha:2")).toEqual(["flow:alpha:1"]);
    expect(await ids("flow:alpha:1")).toEqual([]);
    expect(await ids("flow:beta:1")).toEqual([]);
    expect(await ids("nothing\0")).toEqual([]);
    expect(await queries.ledger({ fundId: "beta", countMax: 10 })).toEqual([entry(1, "beta")]);
  });

  it("find entries that nobody rewrote", async () => {
    for (const text of [
      "update treasury_entry set reason = 'other'",
      "delete from treasury_posting",
      "update treasury_posting set amount = 0",
      "delete from treasury_balance",
    ]) {
      expect(String(await rejection(peer.pool.query(text), text))).toMatch(/permission denied|append only/);
    }
  });
});

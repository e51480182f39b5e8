// A dividend on a share whose stop and whose fund's loss limit lack little, with all services in virtual time: the market goes ex, and nothing fires.
import { afterAll, beforeAll, expect, it } from "vitest";
import * as decimal from "../contracts/src/decimal.ts";
import type { NavUpdated } from "../contracts/src/records/fund.ts";
import { subjects } from "../contracts/src/subjects.ts";
import { ignoreEndedIncarnations } from "../testkit/virtual/incarnation.ts";
import { openedPlatform } from "./opened-platform.ts";

const seed = 23_05;
let restore: () => void;
beforeAll(() => {
  restore = ignoreEndedIncarnations();
});
afterAll(() => restore());

it.each([undefined, "2026-11-25"])(
  `23.4: a share that goes ex fires no stop and no loss, and its price falls by the dividend, seed ${seed}, paid %s`,
  { timeout: 300_000 },
  async (payDate) => {
    const fixture = await openedPlatform(seed);
    const { made, reported } = fixture;
    for (const symbol of ["NVDA", "AAPL", "MSFT", "GOOGL", "AMZN", "JPM", "XOM"]) made.outside.gap(symbol, -0.043);
    await fixture.pass(8_000);
    expect(reported(subjects.stopTriggered)).toEqual([]);
    const before = made.outside.bidAsk("NVDA").bid;
    const navs = () => reported<NavUpdated>(subjects.navUpdated).filter(({ fund_id: id }) => id === "alpha");
    const navBefore = Number(navs().at(-1)?.nav);
    // 3 % of the price: more than what the stop, at 5 %, and the day's limit lack.
    const perShare = (before * 0.03).toFixed(2);
    const terms = { action_id: "nvda-q4", kind: "CASH_DIVIDEND", symbol: "NVDA", amount_per_share: perShare };
    const rest = { ex_date: "2026-11-18", reason: "tested", ratio: "", new_symbol: "" };
    const book = () =>
      fixture.ask<{ state: string }>("Treasury", "BookCorporateAction", {
        ...terms,
        ...rest,
        ...(payDate !== undefined && { pay_date: payDate }),
      });
    expect(await book()).toMatchObject({ state: "DECLARED" });
    await fixture.pass(4_000);
    made.crash("treasury");
    made.crash("operations");
    const state = payDate === undefined ? "DONE" : "EX";
    expect(await fixture.until(() => fixture.states().includes(state), 20_000)).toBe(true);
    made.crash("treasury");
    await fixture.pass(30_000);
    const fallen = before - made.outside.bidAsk("NVDA").bid;
    expect(Math.abs(fallen - Number(perShare))).toBeLessThan(before * 0.005);
    expect(Math.abs(Number(navs().at(-1)?.nav) - navBefore)).toBeLessThan(navBefore * 0.001);
    // No value in between has it twice or not at all: 1,500 shares at 3 % are more than what the market moves in a second.
    const sums = navs().map(({ nav }) => Number(nav));
    const steps = sums.slice(1).map((nav, index) => Math.abs(nav - (sums[index] ?? nav)));
    expect(Math.max(...steps.slice(10))).toBeLessThan(1_500 * Number(perShare) * 0.5);
    expect([reported(subjects.stopTriggered), made.tables.risk.halts, made.defects]).toEqual([[], [], []]);
    const paid = reported<{ kind: string; amount: string }>(subjects.ledgerBooked).filter(
      ({ kind }) => kind === "DIVIDEND",
    );
    const due = decimal.multiply(decimal.parse(perShare), decimal.parse("1500"), "half-even");
    expect(paid.map(({ amount }) => amount)).toEqual(payDate === undefined ? [decimal.format(due)] : []);
    expect(await book()).toMatchObject({ state, already_booked: true });
  },
);

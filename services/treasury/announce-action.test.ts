// Announcing splits: what is refused, and with which words; once by its id.
import { afterEach, describe, expect, it } from "vitest";
import type { CorporateAction } from "../../contracts/src/generated/svc/v1/platform.ts";
import { parse } from "../../contracts/src/instant.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { call, type TestBooks, testBooks } from "../../testkit/virtual/treasury-books.ts";
import type { RunningService } from "../shared/service.ts";

const seed = 20_261_117;
let books: TestBooks;
afterEach(() => books.close());

const ask = (running: RunningService, differs: object = {}) =>
  call<CorporateAction>(running, "BookCorporateAction", {
    action_id: "nvda-split",
    kind: "SPLIT",
    symbol: "NVDA",
    ratio: "4:1",
    reason: "split",
    amount_per_share: "",
    ex_date: "",
    new_symbol: "",
    ...differs,
  });
const reported = () =>
  books.fixture.reported(subjects.corporateActionChanged).map(({ action_id: id, state }) => `${id} ${state}`);

describe(`23.4: announcing a split, seed ${seed}`, () => {
  it("is one action by its id, with its event, and one at a time in a symbol", async () => {
    books = testBooks(seed);
    const running = await books.start();
    expect(await ask(running)).toMatchObject({ state: "ANNOUNCED", already_booked: false, entries: [] });
    expect(await ask(await books.start(), { ratio: "8:2" })).toMatchObject({
      state: "ANNOUNCED",
      already_booked: true,
    });
    expect((await ask(running, { ratio: "5:1" })).denial?.code).toBe("CORPORATE_ACTION_CONFLICT");
    expect((await ask(running, { action_id: "other" })).denial).toMatchObject({
      code: "CORPORATE_ACTION_STANDS",
      reason: "The corporate action nvda-split in NVDA is under way.",
    });
    expect(reported()).toEqual(["nvda-split ANNOUNCED"]);
    expect(await ask(running, { action_id: "aapl", symbol: "AAPL", ratio: "1:10" })).toMatchObject({ symbol: "AAPL" });
  });

  it("has the options on the share as legs, and is refused while one that ended is not settled", async () => {
    books = testBooks(seed);
    const running = await books.start();
    const symbol = "SPY 281215C00650000";
    const position = { quantity: 1n, cost: 0n, averagePrice: 0n, realisedPnl: 0n, openedBy: "f" };
    const held = {
      fundId: "gamma",
      strategyId: "gamma-income",
      symbol,
      ...position,
      updatedAt: books.fixture.time.clock.now(),
    };
    const { store } = books.fixture.portsOf("oms");
    await store.transact("oms.history", (unit) => unit.oms.putPosition(held as never));
    const { clock } = books.fixture.time;
    const late = await books.start({ clock: { ...clock, now: () => parse("2028-12-16T00:00:00Z") } });
    expect((await ask(late, { symbol: "SPY" })).denial?.reason).toMatch(/^SPY 281215C00650000 has ended/);
    expect(await ask(running, { symbol: "SPY" })).toMatchObject({ state: "ANNOUNCED" });
    const [{ legs } = { legs: [] }] = books.fixture.reported(subjects.corporateActionChanged);
    expect(legs.map(({ new_symbol: name }) => name)).toEqual([
      ...["SPY", "SPY 281215P00125000", "SPY 281215P00137500", "SPY 281215C00162500", "SPY 281215C00175000"],
    ]);
  });

  it("is refused for what is no share, for options that would not come out even, without a reason, and when it makes no sense", async () => {
    books = testBooks(seed);
    const running = await books.start();
    expect((await ask(running, { symbol: "BTC-USD" })).denial?.code).toBe("CORPORATE_ACTION_NOT_SHARE");
    expect((await ask(running, { symbol: "SPY", ratio: "3:1" })).denial).toMatchObject({
      code: "CORPORATE_ACTION_STANDS",
      reason: expect.stringContaining("Close what is held of it"),
    });
    expect((await ask(running, { reason: " " })).denial?.code).toBe("REASON_MISSING");
    const ratios = ["", "4", "1:1", "0:1", "4:0", "-4:1", "1.5:1", "1001:1", "4:1 "].map((ratio) => ({ ratio }));
    const more = [{ action_id: "a b" }, { symbol: "NOPE" }, { reason: "a\nb" }, { kind: "SPIN_OFF" }];
    const foreign = [{ amount_per_share: "1" }, { ex_date: "2026-11-16" }, { new_symbol: "NV" }];
    for (const differs of [...ratios, ...more, ...foreign]) {
      await expect(ask(running, differs), JSON.stringify(differs)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    }
    expect(reported()).toEqual([]);
  });
});

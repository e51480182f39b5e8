// Announcing splits: what is refused, and with which words; once by its id.
import { afterEach, describe, expect, it } from "vitest";
import type { CorporateAction } from "../../contracts/src/generated/svc/v1/platform.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { call, type TestBooks, testBooks } from "../../testkit/virtual/treasury-books.ts";
import type { RunningService } from "../shared/service.ts";

const seed = 20_261_117;
let books: TestBooks;
afterEach(() => books.close());

const ask = (running: RunningService, differs: object = {}) =>
  call<CorporateAction>(running, "BookCorporateAction", {
    ...{ action_id: "nvda-split", kind: "SPLIT", symbol: "NVDA", ratio: "4:1", reason: "split" },
    ...{ amount_per_share: "", ex_date: "", new_symbol: "", ...differs },
  });
const told = () => books.rig.told(subjects.corporateActionChanged).map(({ action_id: id, state }) => `${id} ${state}`);

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
      ...{ code: "CORPORATE_ACTION_STANDS", reason: "The corporate action nvda-split in NVDA is under way." },
    });
    expect(told()).toEqual(["nvda-split ANNOUNCED"]);
    expect(await ask(running, { action_id: "aapl", symbol: "AAPL", ratio: "1:10" })).toMatchObject({ symbol: "AAPL" });
  });

  it("is refused for what is no share, under options, without a reason, and when it makes no sense", async () => {
    books = testBooks(seed);
    const running = await books.start();
    expect((await ask(running, { symbol: "BTC-USD" })).denial?.code).toBe("CORPORATE_ACTION_NOT_SHARE");
    expect((await ask(running, { symbol: "SPY" })).denial?.code).toBe("CORPORATE_ACTION_STANDS");
    expect((await ask(running, { reason: " " })).denial?.code).toBe("REASON_MISSING");
    const ratios = ["", "4", "1:1", "0:1", "4:0", "-4:1", "1.5:1", "1001:1", "4:1 "].map((ratio) => ({ ratio }));
    const more = [{ action_id: "a b" }, { symbol: "NOPE" }, { reason: "a\nb" }, { kind: "SPIN_OFF" }];
    const foreign = [{ amount_per_share: "1" }, { ex_date: "2026-11-16" }, { new_symbol: "NV" }];
    for (const differs of [...ratios, ...more, ...foreign]) {
      await expect(ask(running, differs), JSON.stringify(differs)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    }
    expect(told()).toEqual([]);
  });
});

// That one event which the subscription loses in a thousand is found, wherever it is, and that a repair makes the day whole.
import { afterEach, expect, it } from "vitest";
import type { FilingReconciliation } from "../../../contracts/src/generated/svc/v1/filingchecks.ts";
import { parse } from "../../../contracts/src/instant.ts";
import { type FilingsFixture, openFilings } from "../../../testkit/filings/filings-fixture.ts";

const day = { regime: "CAT", fund_id: "alpha", date: "2026-11-13" };

let open: FilingsFixture | undefined;
afterEach(async () => {
  await open?.close();
  open = undefined;
});

// Steps of one order have moments of their own. Of five the second says nothing that the third does not say again.
it.each([1, 378, 1_000])(
  "one lost event in a thousand is found: number %s",
  async (number) => {
    open = await openFilings({ startAt: parse("2026-11-13T15:00:00.000000Z") });
    await open.start();
    let heard = 0;
    open.lose(() => {
      heard += 1;
      return heard === number;
    });
    for (let order = 1; order <= 200; order += 1) await open.live(`o-${order}`, 1);
    await open.platform.pass(120_000);
    expect(heard).toBe(1_000);
    const found = await open.ask<FilingReconciliation>("ReconcileFilings", day);
    expect(found).toMatchObject({ expected: 800, pending: 0, unexpected_count: 0, different_count: 0 });
    expect(new Set(found.missing.map(({ order_id }) => order_id))).toEqual(new Set([`o-${Math.ceil(number / 5)}`]));
    expect(found.recorded + found.missing_count).toBe(800);
    await open.ask("RepairFilings", { ...day, reason: "an event was lost" });
    await open.platform.pass(1_000);
    const whole = { expected: 800, recorded: 800, missing_count: 0, unexpected_count: 0, different_count: 0 };
    expect(await open.ask("ReconcileFilings", day)).toMatchObject(whole);
  },
  120_000,
);

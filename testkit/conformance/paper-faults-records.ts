// The suite that every store passes with what the paper broker and the paper market suffer: ports/paper-faults.ts.
import { expect, it } from "vitest";
import type { PaperWeather } from "../../contracts/src/records/fund.ts";
import type { Store } from "../../ports/store.ts";
import { rejection } from "./waiting.ts";

export interface PaperFaultsFixture {
  readonly store: Store;
  close(): Promise<void>;
}

export function paperFaultsConformance(name: string, open: () => Promise<PaperFaultsFixture>): void {
  it(`paper weather, ${name}: there is none at first, the newest counts, and what failed leaves nothing`, async () => {
    const { store, close } = await open();
    const read = () => store.transact("conformance.look", (unit) => unit.paperFaults.lock());
    const put = (faults: PaperWeather) =>
      store.transact("conformance.put", async (unit) => {
        await unit.paperFaults.put(faults);
        return unit.paperFaults.lock();
      });
    try {
      expect(await read()).toBeUndefined();
      const foul: PaperWeather = {
        report_loss_pct: 0.25,
        gaps: [{ symbol: "SPY 281215C00650000", pct: -0.12, from: "2026-11-15T12:00:00.000000Z" }],
        halted_symbols: ["AAPL"],
        set_by: "operator:duty",
        reason: "tested",
        at: "2026-11-15T12:00:00.000000Z",
      };
      expect(await put(foul)).toEqual(foul);
      const { gaps, ...milder } = foul;
      expect(gaps).toHaveLength(1);
      expect(await put(milder)).toEqual(milder);
      const failing = store.transact("conformance.fails", async (unit) => {
        await unit.paperFaults.put(foul);
        throw new Error("a change of mind");
      });
      expect(await rejection(failing, "a failing unit")).toMatchObject({ message: "a change of mind" });
      expect(await read()).toEqual(milder);
    } finally {
      await close();
    }
  });
}

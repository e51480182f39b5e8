// Whose prices count beside reference data that cannot be read.
import { expect, it } from "vitest";
import { fromMicroseconds } from "../../contracts/src/instant.ts";
import type { Mark } from "../../contracts/src/records/market.ts";
import { quietLog } from "../../testkit/quiet-log.ts";
import { testSettings } from "../../testkit/virtual/memory-platform.ts";
import { followPriceSources } from "./price-sources.ts";
import type { ServicePorts } from "./service.ts";

const noTurns = { transact: async () => ({ turns: [], place: 0 }) } as unknown as ServicePorts["store"];

it("counts no price from outside before it knows who is named, and goes on by what it knew afterwards", async () => {
  let now = fromMicroseconds(1_794_000_000_000_000);
  let isAway = true;
  const referenceData = {
    changed: async () => {
      if (isAway) throw new Error("the store is away");
      return 1;
    },
    read: async () => ({ change: 1, instruments: [{ symbol: "AAPL", priced_by: ["feed"] }], venues: [] }),
  } as unknown as ServicePorts["referenceData"];
  const sources = await followPriceSources({
    store: noTurns,
    referenceData,
    clock: { now: () => now },
    settings: testSettings,
    log: quietLog,
  });
  const judged = async (source: string): Promise<string> => {
    now = fromMicroseconds(now + 2_000_000);
    const mark: Mark = { symbol: "AAPL", price: "200", source, at: "2026-11-06T10:40:00Z" };
    await sources.look(mark);
    return sources.judge(mark, now).kind;
  };
  expect([await judged("stranger"), await judged("feed"), await judged("paper")]).toEqual(["WAITS", "WAITS", "COUNTS"]);
  isAway = false;
  expect([await judged("stranger"), await judged("feed")]).toEqual(["NOT_YOURS", "COUNTS"]);
  isAway = true;
  expect([await judged("stranger"), await judged("feed")]).toEqual(["NOT_YOURS", "COUNTS"]);
});

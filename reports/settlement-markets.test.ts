// The dates on which two cycles and two calendars meet.
import { expect, it } from "vitest";
import { settlementOf } from "./metrics/settlement.ts";
import { settlementMarkets } from "./settlement-markets.ts";

it.each([
  ["EQUITY", "2024-05-24", "2024-05-29", "T+2"],
  ["EQUITY", "2024-05-28", "2024-05-29", "T+1"],
  // The exchange trades on Columbus and Veterans Day, and nothing settles.
  ["EQUITY", "2024-10-11", "2024-10-15", "T+1"],
  ["EQUITY", "2025-11-10", "2025-11-12", "T+1"],
  // It was closed on that day, and banks were not.
  ["EQUITY", "2025-01-08", "2025-01-09", "T+1"],
  ["EQUITY", "2024-12-31", "2025-01-02", "T+1"],
  ["OPTION", "2024-05-24", "2024-05-28", "T+1"],
  ["CRYPTO", "2026-11-14", "2026-11-14", "T+0"],
] as const)("%s of %s settles on %s, %s", (market, traded, date, cycle) => {
  expect(settlementOf(settlementMarkets[market], traded)).toEqual({ date, cycle });
});

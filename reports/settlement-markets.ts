// When the markets that funds trade in settle, as data with the dates from which each cycle holds. A settlement calendar is not the exchange's: on
// Columbus and Veterans Day the exchange trades and banks are closed; on 9 January 2025 it was the other way round.
import { usEquities } from "../contracts/src/calendars.ts";
import type { SettlementRules } from "./metrics/settlement.ts";

const bankHolidays: readonly string[] = [
  "2024-10-14",
  "2024-11-11",
  "2025-10-13",
  "2025-11-11",
  "2026-10-12",
  "2026-11-11",
  "2027-10-11",
  "2027-11-11",
];
const settledThough: ReadonlySet<string> = new Set(["2025-01-09"]);
const usClosed: ReadonlySet<string> = new Set([
  ...usEquities.definition.holidays.filter((day) => !settledThough.has(day)),
  ...bankHolidays,
]);

/** By asset class. US equities settle a day sooner from trades of 2024-05-28 on; options always did; coins change hands at once, on any day. */
export const settlementMarkets: Readonly<Record<"EQUITY" | "OPTION" | "CRYPTO", SettlementRules>> = {
  EQUITY: {
    cycles: [
      { from: "", days: 2 },
      { from: "2024-05-28", days: 1 },
    ],
    closed: usClosed,
  },
  OPTION: { cycles: [{ from: "", days: 1 }], closed: usClosed },
  CRYPTO: { cycles: [{ from: "", days: 0 }], closed: "never closed" },
};

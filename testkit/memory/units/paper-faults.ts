// What the paper broker and the paper market suffer, in a transaction of the memory store.
import type { PaperWeather } from "../../../contracts/src/records/fund.ts";
import type { PaperFaultsRecords } from "../../../ports/paper-faults.ts";
import type { RecordTools } from "../layered-map.ts";

export interface WeatherTables {
  /** Undefined until somebody changes it. */
  current: PaperWeather | undefined;
}

export function faultsChanges(tables: WeatherTables, { inTurn, lock, cell }: RecordTools): PaperFaultsRecords {
  const current = cell("paper_weather", tables);
  return {
    lock: () =>
      inTurn(async () => {
        await lock("paper weather");
        return current.get();
      }),
    put: (faults) =>
      inTurn(async () => {
        await lock("paper weather");
        current.set(faults);
      }),
  };
}

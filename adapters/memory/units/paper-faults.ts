// What the paper broker and the paper market suffer, in a transaction of the memory store.
import type { PaperWeather } from "../../../contracts/src/records/fund.ts";
import type { PaperFaultsRecords } from "../../../ports/paper-faults.ts";

export interface WeatherTables {
  /** Undefined until somebody changes it. */
  current: PaperWeather | undefined;
}

interface Tools {
  readonly inTurn: <T>(operation: () => Promise<T>) => Promise<T>;
  readonly lock: (row: string) => Promise<void>;
}

export function faultsChanges(
  tables: WeatherTables,
  { inTurn, lock }: Tools,
): { readonly records: PaperFaultsRecords; apply(): void } {
  let changed: PaperWeather | undefined;
  return {
    records: {
      lock: () =>
        inTurn(async () => {
          await lock("paper weather");
          return structuredClone(changed ?? tables.current);
        }),
      put: (faults) =>
        inTurn(async () => {
          await lock("paper weather");
          changed = structuredClone(faults);
        }),
    },
    apply() {
      tables.current = changed ?? tables.current;
    },
  };
}

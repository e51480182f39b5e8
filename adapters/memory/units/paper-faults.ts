// What the paper broker and the paper market suffer, in a transaction of the memory store.
import type { PaperWeather } from "../../../contracts/src/records/fund.ts";
import type { PaperWeatherRecords } from "../../../ports/paper-weather.ts";

export interface WeatherWorld {
  /** Undefined until somebody changes it. */
  current: PaperWeather | undefined;
}

interface Tools {
  readonly inTurn: <T>(operation: () => Promise<T>) => Promise<T>;
  readonly lock: (row: string) => Promise<void>;
}

export function weatherChanges(
  world: WeatherWorld,
  { inTurn, lock }: Tools,
): { readonly records: PaperWeatherRecords; apply(): void } {
  let changed: PaperWeather | undefined;
  return {
    records: {
      lock: () =>
        inTurn(async () => {
          await lock("paper weather");
          return structuredClone(changed ?? world.current);
        }),
      put: (weather) =>
        inTurn(async () => {
          await lock("paper weather");
          changed = structuredClone(weather);
        }),
    },
    apply() {
      world.current = changed ?? world.current;
    },
  };
}

// Mistakes in how watchdogs act, built in beside the product: the runs must find each.
import { effectiveStrategy } from "../../core/blocks/effective-strategy.ts";
import type { Store, UnitOfWork } from "../../ports/store.ts";
import type { PlantedWatchdogBug } from "./simulate.ts";

const changed = (store: Store, change: (name: string, unit: UnitOfWork) => UnitOfWork): Store => ({
  ...store,
  transact: (name, work) => store.transact(name, (unit) => work(change(name, unit))),
});

/** Every change writes what strategies may use as what people set, so that the next one multiplies it again. */
export const factorAgain: PlantedWatchdogBug = (store) =>
  changed(store, (name, unit) => {
    if (name !== "watchdogs.change") return unit;
    const putEpisode: UnitOfWork["watchdogs"]["putEpisode"] = async (episode) => {
      await unit.watchdogs.putEpisode(episode);
      const open = await unit.restrictions.listOpen();
      for (const stored of await unit.research.strategies()) {
        const { allocationPct } = effectiveStrategy(stored, open);
        await unit.research.putStrategy({ ...stored, allocationPct });
      }
    };
    return { ...unit, watchdogs: { ...unit.watchdogs, putEpisode } };
  });

/** A restart forgets which episodes are open. */
export const episodeLostAtRestart: PlantedWatchdogBug = (store) =>
  changed(store, (_name, unit) => ({ ...unit, watchdogs: { ...unit.watchdogs, watches: async () => [] } }));

/** By the names that `--plant` takes. */
export const watchdogBugs: Readonly<Record<string, { readonly sentence: string; readonly plant: PlantedWatchdogBug }>> =
  {
    "factor-again": { sentence: "a factor is applied again with every change", plant: factorAgain },
    "lose-episode": { sentence: "a restart forgets open episodes", plant: episodeLostAtRestart },
  };

// Where every watchdog stands, in memory: read from the store at the start and written there before it stands here, so that lists and runners agree with
// what a restart would find.
import type { Instant } from "../../../contracts/src/instant.ts";
import type { WatchdogName } from "../../../contracts/src/records/values.ts";
import type { StoredPause } from "../../../ports/watchdog-records.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { firmId } from "./configuration.ts";
import { keyOf, type Watch, watchOf } from "./watch.ts";

export interface Board {
  get(key: string): Watch | undefined;
  put(key: string, watch: Watch): void;
  remove(key: string): void;
  /** In order of their keys. */
  of(watchdog: WatchdogName): readonly (readonly [string, Watch])[];
  /** In force at that moment. */
  pauseOf(watchdog: WatchdogName, fundId: string | undefined, at: Instant): StoredPause | undefined;
  pauses(at: Instant): readonly StoredPause[];
  setPauses(pauses: readonly StoredPause[]): void;
}

export async function openBoard({ store }: Pick<ServicePorts, "store">): Promise<Board> {
  const { watches, pauses: kept } = await store.transact("watchdogs.look", async (unit) => ({
    watches: await unit.watchdogs.watches(),
    pauses: await unit.watchdogs.pauses(),
  }));
  const byKey = new Map<string, Watch>();
  for (const stored of watches) byKey.set(keyOf(stored.watchdog, stored.scope), watchOf(stored));
  let pauses = kept;
  const inForce = (at: Instant): readonly StoredPause[] => pauses.filter(({ until }) => until > at);
  return {
    get: (key) => byKey.get(key),
    put: (key, watch) => void byKey.set(key, watch),
    remove: (key) => void byKey.delete(key),
    of: (watchdog) =>
      [...byKey].filter(([, watch]) => watch.watchdog === watchdog).sort(([one], [other]) => (one < other ? -1 : 1)),
    pauseOf: (watchdog, fundId = firmId, at) =>
      inForce(at).find((pause) => pause.watchdog === watchdog && (pause.fundId === "" || pause.fundId === fundId)),
    pauses: inForce,
    setPauses(next) {
      pauses = next;
    },
  };
}

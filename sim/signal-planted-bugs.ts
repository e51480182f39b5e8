// Mistakes that are built in about alerts of a charting platform. The product knows nothing of them, and each must be found.
import { millisecondsBetween } from "../contracts/src/instant.ts";
import type { SignalRecords } from "../ports/signal-records.ts";
import type { Store } from "../ports/store.ts";
import type { PlantedBug } from "./planted-bug.ts";

function withSignals(store: Store, change: (signals: SignalRecords) => Partial<SignalRecords>): Store {
  const transact: Store["transact"] = (name, work) =>
    store.transact(name, (unit) => work({ ...unit, signals: { ...unit.signals, ...change(unit.signals) } }));
  return { ...store, transact };
}

/** How long after its answer the key of an alert is taken. */
const takenAfterMs = 25;

export const takesKeyLate: PlantedBug = {
  name: "takes-key-late",
  sentence: "The key of an alert is taken a moment after its answer, and not with its row.",
  ports: (service, ports) => {
    if (service !== "oms") return ports;
    const { store, clock } = ports;
    const late = withSignals(store, (signals) => ({
      async keyHolder(fundId, key, at) {
        const holder = await signals.keyHolder(fundId, key, at);
        const isLate = holder !== undefined && millisecondsBetween(holder.receivedAt, clock.now()) < takenAfterMs;
        return isLate ? undefined : holder;
      },
    }));
    return { ...ports, store: late };
  },
};

export const losesItsPlace: PlantedBug = {
  name: "loses-its-place",
  sentence:
    "Order management that was started again goes on with the alerts that came since, and forgets those that waited.",
  ports: (service, ports) => {
    if (service !== "oms") return ports;
    const { store, clock } = ports;
    const startedAt = clock.now();
    const forgetful = withSignals(store, (signals) => ({
      nextSignal: async ({ fundId, symbol }) =>
        (await signals.waitingSignals(fundId)).find((one) => one.symbol === symbol && one.receivedAt >= startedAt),
    }));
    return { ...ports, store: forgetful };
  },
};

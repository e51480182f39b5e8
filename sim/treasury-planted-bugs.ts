// Mistakes that are built in about what treasury keeps: money, prices and reference data. The product knows nothing of them, and each must be found.
import * as decimal from "../contracts/src/decimal.ts";
import type { ReferenceData } from "../ports/reference-data.ts";
import type { Store } from "../ports/store.ts";
import type { PlantedBug } from "./planted-bug.ts";

export const withdrawAnything: PlantedBug = {
  name: "withdraw-anything",
  sentence: "Nothing is asked before money leaves a fund: neither the risk engine, nor its cash, nor the halts.",
  ports: (service, ports) => {
    if (service !== "treasury") return ports;
    const { store } = ports;
    const transact: Store["transact"] = (name, work) =>
      store.transact(name, (unit) => {
        const ledger = { ...unit.ledger, lockHolding: async () => decimal.largest };
        const oms = { ...unit.oms, haltsAtSending: async () => ({ epoch: 0, active: [] }) };
        return work(name === "treasury.flow" ? { ...unit, ledger, oms } : unit);
      });
    return { ...ports, store: { ...store, transact }, withdrawals: { reserve: async () => ({ answer: undefined }) } };
  },
};

export const keepsOldPrices: PlantedBug = {
  name: "keeps-old-prices",
  sentence: "Treasury goes on valuing what was split at the price of before the split.",
  ports: (service, ports) => {
    if (service !== "treasury") return ports;
    const { store } = ports;
    const transact: Store["transact"] = (name, work) =>
      store.transact(name, (unit) => {
        const corporateActions = { ...unit.corporateActions, applied: async () => [] };
        return work(name === "treasury.value" ? { ...unit, corporateActions } : unit);
      });
    return { ...ports, store: { ...store, transact } };
  },
};

export const dropsAnInstrument: PlantedBug = {
  name: "drops-an-instrument",
  sentence: "The first change of the instruments takes one that is held out of the risk engine's reference data.",
  ports: (service, ports) => {
    if (service !== "riskengine") return ports;
    const { referenceData } = ports;
    const read: ReferenceData["read"] = async () => {
      const reference = await referenceData.read();
      if (reference.versions.instruments === 1) return reference;
      return { ...reference, instruments: reference.instruments.filter(({ symbol }) => symbol !== "JPM") };
    };
    return { ...ports, referenceData: { ...referenceData, read } };
  },
};

// Order management's shell: the paper platform's front door for orders. Its procedures are refused by name until they are built; what
// it does already is to announce the first positions of the paper funds.
import type { Service } from "../service.ts";
import { seedPositions } from "./seed-positions.ts";

export const oms: Service = {
  name: "oms",
  sentence: "Takes orders, asks the risk engine, routes what was approved and keeps positions.",
  // Treasury puts in the funds and instruments that the first positions are of.
  needs: ["riskengine", "operations", "treasury"],
  start: async (ports) => {
    await seedPositions(ports);
    return {
      rpc: [{ name: "Oms", handlers: {} }],
      health: () => ({ status: "ok" }),
      stop: async () => undefined,
    };
  },
};

// Order management's shell: the paper platform's front door for orders. Its procedures are refused by name until they are built.
import type { Service } from "../service.ts";

export const oms: Service = {
  name: "oms",
  sentence: "Takes orders, asks the risk engine, routes what was approved and keeps positions.",
  needs: ["riskengine", "operations"],
  start: async () => ({
    rpc: [{ name: "Oms", handlers: {} }],
    health: () => ({ status: "ok" }),
    stop: async () => undefined,
  }),
};

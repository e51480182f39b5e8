// The risk engine's shell. It answers the RiskEngine procedures; those that have no handler here yet are refused by name.
import type { Service } from "../service.ts";

export const riskengine: Service = {
  name: "riskengine",
  sentence: "Checks every order against seven gates before it may be sent.",
  needs: [],
  start: async () => ({
    rpc: [{ name: "RiskEngine", handlers: {} }],
    health: () => ({ status: "ok" }),
    stop: async () => undefined,
  }),
};

// Research's shell: strategies and their statistics. Its procedures are refused by name until they are built.
import type { Service } from "../service.ts";

export const research: Service = {
  name: "research",
  sentence: "Owns the strategies, their backtests and their live signals.",
  needs: ["oms", "treasury"],
  start: async () => ({
    rpc: [{ name: "Research", handlers: {} }],
    health: () => ({ status: "ok" }),
    stop: async () => undefined,
  }),
};

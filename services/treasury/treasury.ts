// Treasury's shell: funds, cash and net asset value. Its procedures are refused by name until they are built.
import type { Service } from "../service.ts";

export const treasury: Service = {
  name: "treasury",
  sentence: "Owns the funds, their cash and their net asset value.",
  needs: ["operations"],
  start: async () => ({
    rpc: [{ name: "Treasury", handlers: {} }],
    health: () => ({ status: "ok" }),
    stop: async () => undefined,
  }),
};

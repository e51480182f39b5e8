// The mistake that is built in about options: the product knows nothing of it, and it must be found.
import type { Bus } from "../ports/bus.ts";
import type { PlantedBug } from "./planted-bug.ts";

export const blindToDelta: PlantedBug = {
  name: "blind-to-delta",
  sentence: "The feed of marks says that options hardly move with their underlying.",
  ports: (service, ports) => {
    if (service !== "operations") return ports;
    const { bus } = ports;
    const blind: Bus = {
      ...bus,
      broadcast(subject, payload) {
        const mark = payload as { readonly option_risk?: { readonly delta: string } };
        if (mark.option_risk === undefined) return bus.broadcast(subject, payload);
        const option_risk = { ...mark.option_risk, delta: mark.option_risk.delta.startsWith("-") ? "-0.001" : "0.001" };
        return bus.broadcast(subject, { ...payload, option_risk });
      },
    };
    return { ...ports, bus: blind };
  },
};

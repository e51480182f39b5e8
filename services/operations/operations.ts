// Operations' shell. It hears every subject on the bus from the first minute, because what it has not heard it can neither
// audit nor alarm about; it declares a process lost when its lease runs out; and it runs the feed of prices.
import { everySubject } from "../../contracts/src/subjects.ts";
import type { Service } from "../service.ts";
import { startMarks } from "./marks.ts";
import { riskDesk } from "./risk-desk.ts";
import { watchLeases } from "./watch-leases.ts";

export const operations: Service = {
  name: "operations",
  sentence: "Holds halts and the audit chain, runs the watchdogs and hears every event.",
  needs: [],
  start: async (ports) => {
    const observed = ports.metrics.counter("portcullis_events_observed_total", "Events that operations has heard.", [
      "subject",
    ]);
    const observer = await ports.bus.subscribe(
      { name: "operations.observer", subjects: [everySubject] },
      async (event) => observed.add(1, { subject: event.subject }),
    );
    const leases = watchLeases(ports);
    const marks = startMarks(ports);
    return {
      rpc: [{ name: "Operations", handlers: {} }, riskDesk(ports)],
      health: () => ({ status: "ok" }),
      stop: async () => {
        await marks.stop();
        await leases.stop();
        await observer.close();
      },
    };
  },
};

// The gates in a process of their own, started as the platform starts a part: what the bench itself did before does not count.
import { measureGates, measureScale } from "./gates.ts";

export type GatesTask = { readonly windows: number; readonly perWindow: number } & (
  | { readonly kind: "speed" }
  | { readonly kind: "scale"; readonly sizes: readonly number[] }
);

function measure(task: GatesTask): unknown {
  return task.kind === "speed"
    ? measureGates(task.windows, task.perWindow)
    : measureScale(task.sizes, task.windows, task.perWindow);
}

if (process.send !== undefined && process.argv[2] === "gates") {
  process.on("message", (task: GatesTask) => {
    try {
      process.send?.({ result: measure(task) });
    } catch (thrown) {
      process.send?.({ error: String(thrown) });
    }
  });
  process.on("disconnect", () => process.exit(0));
}

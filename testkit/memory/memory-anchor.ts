// An anchor in memory: the promises of ports/anchors.ts without a disk. What is kept is handed in, so that it outlives who uses it.

import { otherNote } from "../../adapters/anchors/anchor-faults.ts";
import type { Anchor, AnchoredCheckpoint } from "../../ports/anchors.ts";

/** By origin and size, as `<origin> <size>`. */
export type AnchorTables = Map<string, AnchoredCheckpoint>;

export function memoryAnchor(kept: AnchorTables, name = "memory"): Anchor {
  return {
    name,
    async keep({ origin, size, note }) {
      const there = kept.get(`${origin} ${size}`);
      if (there !== undefined && there.note !== note) throw otherNote(name, size);
      kept.set(`${origin} ${size}`, { origin, size, note });
    },
    async newest(origin) {
      const ours = [...kept.values()].filter((each) => each.origin === origin);
      return ours.reduce<AnchoredCheckpoint | undefined>(
        (best, each) => (each.size > (best?.size ?? -1) ? each : best),
        undefined,
      );
    },
    close: async () => undefined,
  };
}

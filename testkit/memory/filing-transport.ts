// The way to a regulator in memory: the same promises as a folder's or a server's (ports/filing-transport.ts). It can be cut anywhere.
import { isHarmlessName, nameTaken, unreachable } from "../../adapters/filing-transport/transport-faults.ts";
import type { FilingTransport } from "../../ports/filing-transport.ts";

type Step = "look" | "write" | "half-written" | "written" | "renamed";

export interface MemoryFilingTransport extends FilingTransport {
  readonly transit: Map<string, Uint8Array>;
  readonly complete: Map<string, Uint8Array>;
  readonly saying: Map<string, Uint8Array>;
  /** The next time that it comes there, the connection is cut. */
  cutAt: Step | undefined;
}

export function memoryFilingTransport(): MemoryFilingTransport {
  const reached = (step: Step): void => {
    if (memory.cutAt !== step) return;
    memory.cutAt = undefined;
    throw unreachable("the connection was cut");
  };
  const memory: MemoryFilingTransport = {
    transit: new Map(),
    complete: new Map(),
    saying: new Map(),
    cutAt: undefined,
    async put({ name, content }) {
      reached("look");
      const there = memory.complete.get(name);
      if (there !== undefined) {
        if (Buffer.from(there).equals(content)) return "THERE";
        throw nameTaken(name);
      }
      reached("write");
      memory.transit.set(name, content.slice(0, content.length / 2));
      reached("half-written");
      memory.transit.set(name, content.slice());
      reached("written");
      memory.complete.set(name, content.slice());
      memory.transit.delete(name);
      reached("renamed");
      return "SENT";
    },
    feedback: async () =>
      [...memory.saying]
        .filter(([name]) => isHarmlessName(name))
        .map(([name, { length }]) => ({ name, bytes: length }))
        .sort((one, other) => (one.name < other.name ? -1 : 1)),
    async read(name, bytesMax) {
      const content = memory.saying.get(name);
      if (content === undefined) throw unreachable(`${name} is not there`);
      if (content.length > bytesMax) throw unreachable(`${name} has more than ${bytesMax} bytes`);
      return content.slice();
    },
    close: async () => undefined,
  };
  return memory;
}

// Idempotency keys in memory and real time, for tests of the listeners; the store can be taken away.

import { type OncePerKey, oncePerKey } from "../adapters/records/once-per-key.ts";
import { testPorts } from "./http/test-ports.ts";
import { memoryStore } from "./memory/store.ts";
import { memoryTables } from "./memory/tables.ts";

export interface MemoryKeys {
  readonly once: OncePerKey;
  setReachable(reachable: boolean): void;
}

export function memoryKeys(): MemoryKeys {
  const { ports } = testPorts();
  const process = memoryTables().process("gateway");
  const store = memoryStore({ ...ports, process });
  return {
    once: oncePerKey({ ...ports, store, holder: () => "incarnation" }),
    setReachable: (reachable) => process.setReachable(reachable),
  };
}

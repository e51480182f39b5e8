// The watches whose only work is to find out whether a condition stands that denies new risk, each with an entry here. A watch hands the engine what stands,
// as data, by `setConditions` under a name of its own: before anything is served, and again with every change. What a condition means for an order is in its
// entry in core/blocks/index.ts.
// Four other parts hand in conditions beside their own work: losses (losses/loss-watch.ts), restrictions of watchdogs (restriction-watch.ts), and in
// core/engine throttles and blocks.
import type { Engine } from "../../core/engine/engine.ts";
import type { Health } from "../../ports/health.ts";
import type { Parts } from "../shared/parts.ts";
import type { ServicePorts } from "../shared/service.ts";
import type { Alarms } from "./alarms.ts";
import { watchAudit } from "./audit-watch.ts";
import { watchDisk } from "./disk-watch.ts";
import type { SafetyLooks } from "./safety-looks.ts";
import { watchSymbolBlocks } from "./symbol-blocks.ts";
import { watchUnaudited } from "./unaudited-watch.ts";

export interface StartedSource {
  /** Its complaint is shown; the engine serves all the same. */
  health?(): Health;
  stop(): Promise<void>;
}

interface Watched {
  readonly ports: ServicePorts;
  readonly engine: Engine;
  readonly alarms: Alarms;
  readonly looks: SafetyLooks | undefined;
}

interface ConditionSource {
  /** As the service's parts and its log name it. */
  readonly name: string;
  /** Resolves when the engine has heard; undefined where there is nothing to watch. */
  start(watched: Watched): Promise<StartedSource | undefined>;
}

const conditionSources: readonly ConditionSource[] = [
  {
    name: "symbol blocks",
    start: ({ ports, engine, looks }) => watchSymbolBlocks(ports, engine, looks),
  },
  {
    name: "audit",
    start: ({ ports, engine, alarms, looks }) => watchAudit(ports, engine, alarms, looks),
  },
  {
    name: "unaudited changes",
    async start({ ports, engine, alarms, looks }) {
      const { unauditedChanges } = ports;
      // Where only units of work reach the records there are none.
      return unauditedChanges && watchUnaudited({ ...ports, unauditedChanges }, engine, alarms, looks);
    },
  },
  {
    name: "disk",
    async start({ ports, engine, alarms }) {
      const { diskSpace } = ports;
      return diskSpace && watchDisk({ ...ports, diskSpace }, engine, alarms);
    },
  },
];

/** One after the other. */
export async function startConditionSources(watched: Watched, parts: Parts): Promise<readonly StartedSource[]> {
  const started: StartedSource[] = [];
  for (const { name, start } of conditionSources) {
    const source = await start(watched);
    if (source !== undefined) started.push(parts.add(name, source));
  }
  return started;
}

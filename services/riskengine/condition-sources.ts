// What watches the world for conditions that deny new risk, each with a line here. A source hands what stands to the engine as data, by `setConditions`
// under a name of its own, before anything is served and whenever it changes; what that means for an order says its entry in core/blocks/index.ts.
// Conditions of which other parts learn are handed in there: losses (losses/loss-watch.ts), restrictions of watchdogs (restriction-watch.ts), throttles and
// blocks (core/engine).
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
  /** Its part of the service. */
  readonly name: string;
  readonly watches: string;
  /** Resolves when the engine has heard; undefined where there is nothing to watch. */
  start(watched: Watched): Promise<StartedSource | undefined>;
}

const conditionSources: readonly ConditionSource[] = [
  {
    name: "symbol blocks",
    watches: "Differences with the broker, and corporate actions under way.",
    start: ({ ports, engine, looks }) => watchSymbolBlocks(ports, engine, looks),
  },
  {
    name: "audit",
    watches: "Whether the audit log is whole and up to date.",
    start: ({ ports, engine, alarms, looks }) => watchAudit(ports, engine, alarms, looks),
  },
  {
    name: "unaudited changes",
    watches: "Changes of halts, people and keys that have no event.",
    async start({ ports, engine, alarms, looks }) {
      const { unauditedChanges } = ports;
      // Where only units of work reach the records there are none.
      return unauditedChanges && watchUnaudited({ ...ports, unauditedChanges }, engine, alarms, looks);
    },
  },
  {
    name: "disk",
    watches: "How much of the disk is free.",
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

// Runs the parts as processes. Invariants, each with a test of its number:
//  1. A part is started only when everything it needs is ready, and stopped before anything it needs is.
//  2. If a part cannot start at all, everything that was started is stopped and the fault says which part and why.
//  3. A part that dies after it was ready is started again, with back-off, and that is said.
//  4. Restarts are bounded: a part that fails `failuresMax` times in a row ends the platform with a fault.
//  5. `stop` ends every part within its grace period, whatever they are doing, also while one is being restarted.

import type { FromPart, PartExit, PartProcess } from "./adapters/part-process.ts";
import { Fault } from "./contracts/src/fault.ts";
import type { Clock } from "./ports/clock.ts";
import type { Log } from "./ports/log.ts";
import type { Timers } from "./ports/timers.ts";

export interface PartPlan {
  readonly name: string;
  readonly needs: readonly string[];
}

export interface SupervisorOptions {
  readonly parts: readonly PartPlan[];
  spawn(name: string): PartProcess;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly startTimeoutMs: number;
  readonly stopGraceMs: number;
  readonly backoffFirstMs: number;
  readonly backoffMaxMs: number;
  readonly failuresMax: number;
  /** A part that was up this long starts its count of failures anew. */
  readonly steadyMs: number;
  /** Called whenever a part came up or went down. */
  changed(parts: readonly PartState[]): void;
}

export interface PartState {
  readonly name: string;
  readonly pid: number;
  readonly ready: boolean;
  readonly restarts: number;
  readonly addresses: Readonly<Record<string, string>>;
}

export interface Supervisor {
  /** Resolves when every part is ready; rejects with SERVICE_START_FAILED (invariant 2). */
  start(): Promise<void>;
  /** Settles only when a part was given up (invariant 4). */
  readonly gaveUp: Promise<Fault>;
  stop(): Promise<void>;
  parts(): readonly PartState[];
}

interface Slot {
  readonly plan: PartPlan;
  process: PartProcess | undefined;
  ready: boolean;
  readySinceUs: number;
  restarts: number;
  failuresInARow: number;
  addresses: Readonly<Record<string, string>>;
}

export function createSupervisor(options: SupervisorOptions): Supervisor {
  const slots = inStartOrder(options.parts).map(
    (plan): Slot => ({
      plan,
      process: undefined,
      ready: false,
      readySinceUs: 0,
      restarts: 0,
      failuresInARow: 0,
      addresses: {},
    }),
  );
  const stopping = new AbortController();
  let giveUp: (fault: Fault) => void = () => undefined;
  const gaveUp = new Promise<Fault>((resolve) => {
    giveUp = resolve;
  });

  const parts = () => slots.filter((slot) => slot.process !== undefined).map(stateOf);

  async function bringUp(slot: Slot): Promise<void> {
    const process = options.spawn(slot.plan.name);
    slot.process = process;
    const outcome = await withTimeout(process, options);
    if (outcome.type !== "ready") {
      await process.stop(0);
      slot.process = undefined;
      throw startFault(slot.plan.name, outcome, options.startTimeoutMs);
    }
    slot.ready = true;
    slot.readySinceUs = options.clock.now();
    slot.addresses = outcome.addresses;
    options.changed(parts());
  }

  /** Waits for the end of a ready part and starts it again until told otherwise. */
  async function keepUp(slot: Slot): Promise<void> {
    while (!stopping.signal.aborted && slot.process !== undefined) {
      const exit = await slot.process.exited;
      slot.ready = false;
      slot.process = undefined;
      options.changed(parts());
      if (stopping.signal.aborted) return;
      if (options.clock.now() - slot.readySinceUs > options.steadyMs * 1_000) slot.failuresInARow = 0;
      options.log.error("a part ended and is started again", { part: slot.plan.name, ended: describeExit(exit) });
      await restart(slot, describeExit(exit));
    }
  }

  async function restart(slot: Slot, ended: string): Promise<void> {
    let why = ended;
    while (!stopping.signal.aborted) {
      slot.failuresInARow += 1;
      if (slot.failuresInARow > options.failuresMax) {
        giveUp(
          new Fault(
            "SERVICE_START_FAILED",
            `${slot.plan.name} failed ${options.failuresMax} times in a row; last: ${why}`,
            {
              retry: "never",
              facts: { part: slot.plan.name },
            },
          ),
        );
        return;
      }
      await options.timers.sleep(backoffMs(slot.failuresInARow, options), stopping.signal);
      if (stopping.signal.aborted) return;
      try {
        await bringUp(slot);
        slot.restarts += 1;
        options.log.warn("a part is back", { part: slot.plan.name, restarts: slot.restarts });
        return;
      } catch (error) {
        why = error instanceof Error ? error.message : String(error);
        options.log.error("a part could not be started again", { part: slot.plan.name, why });
      }
    }
  }

  const keepers: Promise<void>[] = [];

  async function start(): Promise<void> {
    for (const level of inLevels(slots)) {
      if (stopping.signal.aborted) return;
      const results = await Promise.allSettled(level.map(bringUp));
      const failed = results.find((result) => result.status === "rejected");
      if (failed !== undefined && !stopping.signal.aborted) {
        await stop();
        throw failed.reason;
      }
    }
    keepers.push(...slots.map(keepUp));
  }

  async function stop(): Promise<void> {
    stopping.abort();
    for (const level of inLevels(slots).reverse()) {
      await Promise.all(level.map((slot) => slot.process?.stop(options.stopGraceMs)));
    }
    await Promise.all(keepers);
  }

  return { start, stop, gaveUp, parts };
}

function stateOf(slot: Slot): PartState {
  return {
    name: slot.plan.name,
    pid: slot.process?.pid ?? 0,
    ready: slot.ready,
    restarts: slot.restarts,
    addresses: slot.addresses,
  };
}

type StartOutcome = FromPart | { readonly type: "exited"; readonly exit: PartExit } | { readonly type: "timeout" };

async function withTimeout(process: PartProcess, options: SupervisorOptions): Promise<StartOutcome> {
  const patience = new AbortController();
  const timeout = options.timers
    .sleep(options.startTimeoutMs, patience.signal)
    .then((): StartOutcome => ({ type: "timeout" }));
  const outcome = await Promise.race([process.outcome, timeout]);
  patience.abort();
  return outcome;
}

function startFault(name: string, outcome: StartOutcome, startTimeoutMs: number): Fault {
  const why = {
    ready: () => "it was ready",
    failed: () => (outcome.type === "failed" ? outcome.message : ""),
    exited: () => (outcome.type === "exited" ? describeExit(outcome.exit) : ""),
    timeout: () => `it was not ready within ${startTimeoutMs / 1_000} s`,
  }[outcome.type]();
  return new Fault("SERVICE_START_FAILED", `${name} could not start: ${why}`, {
    retry: "never",
    facts: { part: name },
  });
}

function describeExit(exit: PartExit): string {
  if (exit.signal !== null) return `killed by ${exit.signal}`;
  return exit.code === null ? "it could not be run" : `exited with code ${exit.code}`;
}

function backoffMs(failures: number, options: SupervisorOptions): number {
  return Math.min(options.backoffMaxMs, options.backoffFirstMs * 2 ** (failures - 1));
}

/** The plans ordered so that each comes after what it needs; needs outside the list are somebody else's business. */
export function inStartOrder(plans: readonly PartPlan[]): readonly PartPlan[] {
  const ordered: PartPlan[] = [];
  const known = new Set(plans.map((plan) => plan.name));
  const waiting = new Set(plans);
  while (waiting.size > 0) {
    const next = [...waiting].find((plan) =>
      plan.needs.every((need) => !known.has(need) || ordered.some((done) => done.name === need)),
    );
    if (next === undefined)
      throw new Error(`parts need each other in a circle: ${[...waiting].map((p) => p.name).join(", ")}`);
    waiting.delete(next);
    ordered.push(next);
  }
  return ordered;
}

/** Groups of parts that can start side by side, because all they need stands in earlier groups. */
function inLevels(slots: readonly Slot[]): Slot[][] {
  const depths = new Map<string, number>();
  const levels: Slot[][] = [];
  for (const slot of slots) {
    const depth = Math.max(-1, ...slot.plan.needs.map((need) => depths.get(need) ?? -1)) + 1;
    depths.set(slot.plan.name, depth);
    const level = levels[depth] ?? [];
    level.push(slot);
    levels[depth] = level;
  }
  return levels;
}

// What follows a latch: every engine blocks, what it covers leaves the brokers, people are notified. Each is proven once, recorded with its event, and
// tried until then by one loop that survives restarts because the store says what is left.
//
//  1. Steps do not wait for each other: one that fails neither undoes nor stops another.
//  2. A halt that somebody else latched is adopted under its own id: reported as operations.halt.requested, once, whether its message came or not.
//  3. A step that is open for too long alarms until it is proven or its halt was lifted.

import { Defect, messageOf } from "../../../contracts/src/fault.ts";
import { format, type Instant, millisecondsBetween, parse } from "../../../contracts/src/instant.ts";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import type { ActiveHalt, HaltStepName } from "../../../contracts/src/records/halt.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { startLoop } from "../../shared/loop.ts";
import { line } from "../../shared/one-line.ts";
import type { ServicePorts } from "../../shared/service.ts";
import type { WorkerAlarms } from "../worker-alarms.ts";
import { type Acknowledgement, askEngines, lookAtLeases } from "./acknowledge.ts";
import type { Reservations } from "./foreign-left.ts";
import { notify } from "./notify.ts";
import { ordersLeft } from "./orders-left.ts";

export const stepNames: readonly HaltStepName[] = ["BLOCKED", "CANCELLED", "NOTIFIED"];

const idleMs = 1_000;
const againMs = { first: 50, max: 2_000 };
const openMsMax = 10_000;

interface StepsOptions {
  readonly ports: Pick<
    ServicePorts,
    "store" | "riskStore" | "clock" | "timers" | "log" | "crash" | "chat" | "haltsConfirmer"
  > &
    Reservations;
  readonly alarms: WorkerAlarms;
}

/** What an open step waits for. */
interface OpenStep {
  readonly detail: string;
  readonly at: Instant;
}

export interface HaltSteps {
  /** A halt was latched or lifted. */
  wake(): void;
  /** Tells of a halt that the risk engine latched, unless that was done or it was lifted already. */
  adopt(haltId: string): Promise<void>;
  /** As it was tried last; undefined when it was not. */
  open(haltId: string, step: HaltStepName): OpenStep | undefined;
  /** When it last did all that it could. */
  workedAt(): Instant;
  stop(): Promise<void>;
}

export function startHaltSteps({ ports, alarms }: StepsOptions): HaltSteps {
  const { store, riskStore, clock } = ports;
  /** Everything about these is done. */
  const done = new Set<string>();
  const open = new Map<string, OpenStep>();
  let lookedEpoch = -1;
  let rounds = 0;
  let workedAt = clock.now();

  async function adopt(haltId: string): Promise<void> {
    await store.transact("halts.adopt", async (unit) => {
      const halt = (await unit.risk.lockHalts()).active.find(({ halt_id: id }) => id === haltId);
      if (halt === undefined) return;
      const reported = await unit.halts.reported([haltId]);
      if (reported.some(({ publisher }) => publisher === "operations")) return;
      const eventId = await unit.events.publish(subjects.haltRequested, halt);
      await unit.halts.tell({ haltId, publisher: "operations", eventId });
    });
  }

  async function run(): Promise<number> {
    const isQuiet = open.size === 0 && (await riskStore.haltEpoch()) === lookedEpoch;
    if (!isQuiet) await look();
    workedAt = clock.now();
    if (open.size === 0) return idleMs;
    rounds += 1;
    return Math.min(againMs.first * 2 ** Math.min(rounds, 10), againMs.max);
  }

  async function look(): Promise<void> {
    const { epoch, active } = await riskStore.halts();
    if (epoch !== lookedEpoch) rounds = 0;
    forgetLifted(active);
    const left = active.filter(({ halt_id: id }) => !done.has(id));
    const ids = left.map(({ halt_id: id }) => id);
    const [reported, proven] =
      left.length === 0
        ? [[], []]
        : await store.transact("halts.look", async (unit) => [
            await unit.halts.reported(ids),
            await unit.halts.proven(ids),
          ]);
    for (const id of ids) {
      if (!reported.some(({ haltId, publisher }) => haltId === id && publisher === "operations")) await adopt(id);
    }
    const provenSteps = new Set(proven.map(({ haltId, step }) => keyOf(haltId, step)));
    const lacking = (step: HaltStepName): readonly ActiveHalt[] =>
      left.filter(({ halt_id: id }) => !provenSteps.has(keyOf(id, step)));
    await together([blocked(lacking("BLOCKED")), cancelled(lacking("CANCELLED")), notified(lacking("NOTIFIED"))]);
    for (const id of ids) if (stepNames.every((step) => !open.has(keyOf(id, step)))) done.add(id);
    lookedEpoch = epoch;
  }

  function forgetLifted(active: readonly ActiveHalt[]): void {
    const ids = new Set(active.map(({ halt_id: id }) => id));
    for (const id of done) if (!ids.has(id)) done.delete(id);
    for (const key of open.keys()) {
      const [haltId, step] = parseJson(key) as [string, HaltStepName];
      if (!ids.has(haltId)) close(haltId, step);
    }
  }

  async function blocked(halts: readonly ActiveHalt[]): Promise<void> {
    const newest = halts.at(-1);
    if (newest === undefined) return;
    const asked = await askEngines(ports, newest.epoch);
    const outcome = "proof" in asked ? asked : await lookAtLeases(ports);
    for (const halt of halts) await note(halt, "BLOCKED", outcome);
  }

  async function cancelled(halts: readonly ActiveHalt[]): Promise<void> {
    if (halts.length === 0) return;
    const left = await ordersLeft(ports, halts);
    for (const halt of halts) await note(halt, "CANCELLED", left(halt));
  }

  async function notified(halts: readonly ActiveHalt[]): Promise<void> {
    for (const halt of halts) await note(halt, "NOTIFIED", await notify(ports.chat, halt));
  }

  /** Proves the step, or remembers what it waits for. */
  async function note(halt: ActiveHalt, step: HaltStepName, outcome: Acknowledgement): Promise<void> {
    const at = clock.now();
    const afterMs = Math.max(0, millisecondsBetween(parse(halt.since), at));
    if ("complaint" in outcome) {
      open.set(keyOf(halt.halt_id, step), { detail: outcome.complaint, at });
      if (afterMs > (outcome.patienceMs ?? openMsMax)) await alarm(halt, step, outcome.complaint);
      return;
    }
    const detail = line(outcome.proof, 2_000);
    try {
      await store.transact("halts.step", async (unit) => {
        if (!(await unit.halts.prove({ haltId: halt.halt_id, step, detail, at }))) return;
        const reported = { halt_id: halt.halt_id, step, detail, after_ms: afterMs, at: format(at) };
        await unit.events.publish(subjects.haltStep, reported);
      });
      close(halt.halt_id, step);
    } catch (thrown) {
      if (thrown instanceof Defect) throw thrown;
      open.set(keyOf(halt.halt_id, step), { detail: messageOf(thrown), at });
    }
  }

  async function alarm({ halt_id: id }: ActiveHalt, step: HaltStepName, complaint: string): Promise<void> {
    await alarms.raise(codeOf(step), `${id} ${step}`, `${step} of the halt ${id} is not proven: ${complaint}`);
  }

  function close(haltId: string, step: HaltStepName): void {
    open.delete(keyOf(haltId, step));
    alarms.clear(codeOf(step), `${haltId} ${step}`);
  }

  const loop = startLoop({ ports, what: "the halt manager", firstAfterMs: 0, run });
  return {
    wake: () => loop.wake(),
    adopt,
    open: (haltId, step) => open.get(keyOf(haltId, step)),
    workedAt: () => workedAt,
    stop: () => loop.stop(),
  };
}

function keyOf(haltId: string, step: HaltStepName): string {
  return JSON.stringify([haltId, step]);
}

function codeOf(step: HaltStepName): "HALT_UNACKNOWLEDGED" | "HALT_STEP_OPEN" {
  return step === "BLOCKED" ? "HALT_UNACKNOWLEDGED" : "HALT_STEP_OPEN";
}

/** Lets all of them end before the first failure is reported. */
async function together(doing: readonly Promise<void>[]): Promise<void> {
  const ends = await Promise.allSettled(doing);
  for (const end of ends) if (end.status === "rejected") throw end.reason;
}

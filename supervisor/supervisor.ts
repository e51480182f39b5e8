// Runs the parts as processes. Invariants, each with a test of its number:
//  1. A part is started only when everything it needs is ready, and stopped before anything it needs is.
//  2. If a part cannot start at all, everything that was started is stopped and the fault says which part and why. One that found the database away
//     for a moment is tried again, up to `failuresMax` times.
//  3. A part that dies after it was ready is started again, however often, and that is said: a risk engine that keeps being
//     killed must keep coming back. The wait before it grows while the part dies young, up to a bound.
//  4. A service that was ready once ends nobody but itself: the others hold positions, and go on. After `failuresMax` starts in a row that failed it is
//     said that the platform goes on without it, and it is tried again, more seldom, for ever.
//  5. `restart` ends parts one after the other, in the order of their start, each only when the one before is ready again; asking twice at once
//     is one restart. A part that dies at that moment is back like any other. A service that does not come back ends the restart, not the platform.
//  6. `stop` ends every part within one grace period for all of them, whatever they are doing, also while one is being
//     restarted: each group gets its share of what is left, so that a part that hangs does not cost the others their drain.
//  7. A part that is started on request is started and ended when somebody asks, is kept up like any other meanwhile, and never ends the platform.

import type { FromService, PartExit, PartProcess } from "../adapters/system/service-process.ts";
import { Fault, messageOf } from "../contracts/src/fault.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { Timers } from "../ports/timers.ts";

export interface PartPlan {
  readonly name: string;
  readonly needs: readonly string[];
  /** Not started before somebody asks. */
  readonly onRequest?: true;
}

interface SupervisorOptions {
  readonly parts: readonly PartPlan[];
  spawn(name: string): PartProcess;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly startTimeoutMs: number;
  /** For the stop as a whole. */
  readonly stopGraceMs: number;
  readonly backoffFirstMs: number;
  readonly backoffMaxMs: number;
  /** Starts that fail in a row before the service counts as down. */
  readonly failuresMax: number;
  /** A part that was up this long did not die young. */
  readonly steadyMs: number;
  /** Called whenever a part came up or went down. */
  changed(parts: readonly PartState[]): void;
}

interface PartState {
  readonly name: string;
  readonly pid: number;
  readonly ready: boolean;
  readonly restarts: number;
  readonly addresses: Readonly<Record<string, string>>;
}

export interface Supervisor {
  /** Resolves when every part is ready; rejects with SERVICE_START_FAILED (invariant 2). */
  start(): Promise<void>;
  /** Settles only when a service can no longer be looked after, which is a defect of ours. */
  readonly gaveUp: Promise<Fault>;
  stop(): Promise<void>;
  /** Resolves when every one of these is ready again, with how long each took; rejects with SERVICE_START_FAILED when one stays down. */
  restart(names: readonly string[]): Promise<readonly RestartedService[]>;
  /** Starts a part on request, or ends it; asking twice is asking once. Nobody waits until it is ready. */
  keep(name: string, wanted: boolean): Promise<void>;
  parts(): readonly PartState[];
}

export interface RestartedService {
  readonly name: string;
  readonly pid: number;
  readonly tookMs: number;
}

interface Slot {
  readonly plan: PartPlan;
  process: PartProcess | undefined;
  ready: boolean;
  readySinceUs: number;
  restarts: number;
  youngDeaths: number;
  addresses: Readonly<Record<string, string>>;
  /** Set while somebody wants it started anew; with why when it stays down. */
  wanted: ((down?: string) => void) | undefined;
  /** Of a part on request: whether somebody wants it, and what keeps it up. */
  kept: boolean;
  living: Promise<void> | undefined;
}

export function createSupervisor(options: SupervisorOptions): Supervisor {
  const slots = inStartOrder(options.parts).map(
    (plan): Slot => ({
      plan,
      process: undefined,
      ready: false,
      readySinceUs: 0,
      restarts: 0,
      youngDeaths: 0,
      addresses: {},
      wanted: undefined,
      kept: plan.onRequest !== true,
      living: undefined,
    }),
  );
  const stopping = new AbortController();
  let giveUp: (fault: Fault) => void = () => undefined;
  const gaveUp = new Promise<Fault>((resolve) => {
    giveUp = resolve;
  });

  const parts = () => slots.filter((slot) => slot.process !== undefined).map(stateOf);
  const isOver = ({ kept }: Slot): boolean => stopping.signal.aborted || !kept;
  const atStart = slots.filter(({ plan }) => plan.onRequest !== true);

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
    slot.wanted?.();
    slot.wanted = undefined;
  }

  /** Invariant 2. */
  async function bringUpFirst(slot: Slot): Promise<void> {
    for (let failures = 0; ; failures += 1) {
      try {
        await bringUp(slot);
        return;
      } catch (error) {
        const isPassing = error instanceof Fault && error.retry !== "never";
        if (!isPassing || failures >= options.failuresMax || stopping.signal.aborted) throw error;
        options.log.warn("a part could not start yet and is tried again", {
          part: slot.plan.name,
          why: messageOf(error),
        });
        await options.timers.sleep(backoffMs(failures, options), stopping.signal);
        if (stopping.signal.aborted) throw error;
      }
    }
  }

  /** Waits for the end of a ready part and starts it again until the supervisor stops. */
  async function keepUp(slot: Slot): Promise<void> {
    while (!stopping.signal.aborted && slot.process !== undefined) {
      const exit = await slot.process.exited;
      slot.ready = false;
      slot.process = undefined;
      options.changed(parts());
      if (isOver(slot)) return;
      if (slot.wanted !== undefined && (await broughtBack(slot))) continue;
      const diedYoung = options.clock.now() - slot.readySinceUs < options.steadyMs * 1_000;
      slot.youngDeaths = diedYoung ? slot.youngDeaths + 1 : 0;
      await restart(slot, describeExit(exit));
    }
  }

  /** At once, because it ended as it was told to. */
  async function broughtBack(slot: Slot): Promise<boolean> {
    try {
      await bringUp(slot);
      slot.restarts += 1;
      return true;
    } catch (error) {
      options.log.error("a part did not come back at once", { part: slot.plan.name, error: messageOf(error) });
      return false;
    }
  }

  async function restart(slot: Slot, ended: string): Promise<void> {
    const { name } = slot.plan;
    let why = ended;
    for (let failures = 0; ; failures += 1) {
      const isDown = failures >= options.failuresMax;
      if (failures === options.failuresMax) sayDown(slot, why);
      else options.log.error("a part ended and is started again", { part: name, ended: why });
      const waitMs = isDown ? options.backoffMaxMs * downFactor : backoffMs(slot.youngDeaths + failures, options);
      await options.timers.sleep(waitMs, stopping.signal);
      if (isOver(slot)) return;
      try {
        await bringUp(slot);
        slot.restarts += 1;
        options.log.warn("a part is back", { part: name, restarts: slot.restarts });
        return;
      } catch (error) {
        why = messageOf(error);
        if (isOver(slot)) return;
      }
    }
  }

  /** Invariant 4. */
  function sayDown(slot: Slot, why: string): void {
    const { name } = slot.plan;
    const sentence =
      "a service could not be started again and is down; the platform goes on without it and keeps trying";
    options.log.error(sentence, { part: name, failures: options.failuresMax, why });
    slot.wanted?.(why);
    slot.wanted = undefined;
  }

  const keepers: Promise<void>[] = [];

  async function start(): Promise<void> {
    for (const level of inLevels(atStart)) {
      if (stopping.signal.aborted) return;
      const results = await Promise.allSettled(level.map(bringUpFirst));
      const failed = results.find((result) => result.status === "rejected");
      if (failed !== undefined && !stopping.signal.aborted) {
        await stop();
        throw failed.reason;
      }
    }
    keepers.push(...atStart.map((slot) => keepUp(slot).catch((error: unknown) => giveUp(brokenKeeper(slot, error)))));
  }

  /** Invariant 7. */
  async function live(slot: Slot): Promise<void> {
    try {
      await bringUp(slot);
    } catch (error) {
      if (isOver(slot)) return;
      await restart(slot, messageOf(error));
    }
    await keepUp(slot);
  }

  async function keep(name: string, wanted: boolean): Promise<void> {
    const slot = slots.find(({ plan }) => plan.name === name && plan.onRequest === true);
    if (slot === undefined) throw new Fault("NOT_FOUND", `no part on request is called ${name}`, { retry: "never" });
    if (slot.kept === wanted || stopping.signal.aborted) return;
    slot.kept = wanted;
    if (!wanted) {
      await slot.process?.stop(options.stopGraceMs);
      return;
    }
    const before = slot.living ?? Promise.resolve();
    slot.living = before
      .then(() => (isOver(slot) ? undefined : live(slot)))
      .catch((error: unknown) =>
        options.log.error("a part on request is not kept up", { part: name, error: messageOf(error) }),
      );
  }

  let restarting: Promise<readonly RestartedService[]> | undefined;
  const stopped = new Promise<undefined>((resolve) =>
    stopping.signal.addEventListener("abort", () => resolve(undefined)),
  );

  async function restartAll(names: readonly string[]): Promise<readonly RestartedService[]> {
    const done: RestartedService[] = [];
    for (const slot of slots) {
      if (!names.includes(slot.plan.name) || stopping.signal.aborted) continue;
      const startedUs = options.clock.now();
      options.log.info("a part is restarted as an operator wants it", { part: slot.plan.name });
      const back = new Promise<string | undefined>((resolve) => {
        slot.wanted = resolve;
      });
      await slot.process?.stop(options.stopGraceMs);
      const down = await Promise.race([back, gaveUp.then(messageOf), stopped]);
      if (stopping.signal.aborted) break;
      if (down !== undefined) throw notBack(slot, down);
      done.push({
        name: slot.plan.name,
        pid: slot.process?.pid ?? 0,
        tookMs: (options.clock.now() - startedUs) / 1_000,
      });
    }
    return done;
  }

  async function stop(): Promise<void> {
    stopping.abort();
    const until = options.clock.now() + options.stopGraceMs * 1_000;
    const levels = inLevels(slots).reverse();
    for (const [index, level] of levels.entries()) {
      const leftMs = Math.max(0, until - options.clock.now()) / 1_000;
      const shareMs = leftMs / (levels.length - index);
      await Promise.all(level.map((slot) => slot.process?.stop(shareMs)));
    }
    await Promise.all([...keepers, ...slots.map(({ living }) => living)]);
  }

  return {
    start,
    stop,
    gaveUp,
    keep,
    parts,
    restart: (names) => {
      restarting ??= restartAll(names).finally(() => {
        restarting = undefined;
      });
      return restarting;
    },
  };
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

/** A service that is down is tried so many times as seldom as one that just died. */
const downFactor = 10;

function notBack({ plan: { name } }: Slot, why: string): Fault {
  const sentence = `${name} did not come back and is tried again; what comes after it was not restarted. ${why}`;
  return new Fault("SERVICE_START_FAILED", sentence, { retry: "later", facts: { part: name } });
}

type StartOutcome = FromService | { readonly type: "exited"; readonly exit: PartExit } | { readonly type: "timeout" };

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
    retry: outcome.type === "failed" && outcome.isPassing === true ? "later" : "never",
    facts: { part: name },
  });
}

/** Nothing in keeping a part up should be able to fail; if it does, a part would stay down unseen. */
function brokenKeeper(slot: Slot, error: unknown): Fault {
  const sentence = `${slot.plan.name} can no longer be kept up: ${messageOf(error)}`;
  return new Fault("SERVICE_START_FAILED", sentence, { retry: "never", facts: { part: slot.plan.name }, cause: error });
}

function describeExit(exit: PartExit): string {
  if (exit.signal !== null) return `killed by ${exit.signal}`;
  return exit.code === null ? "it could not be run" : `exited with code ${exit.code}`;
}

function backoffMs(troubles: number, options: SupervisorOptions): number {
  return Math.min(options.backoffMaxMs, options.backoffFirstMs * 2 ** troubles);
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

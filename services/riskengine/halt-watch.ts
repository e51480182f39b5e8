// What the engine knows of halts. It is read before anything is served, again whenever somebody says that it changed, and every quarter
// of a second in any case; when the store has not answered for too long, halts are unknown, and unknown is halted.
//
//  1. A halt that was asked for here blocks at once, before it is latched, and goes on blocking until the store's own list has it.
//     One that the halt manager announces blocks the same way, but for a few seconds at most: the manager may die before it latches.
//  2. What was read is never older than what is known: epochs only grow.
//  3. Whether halts are known is judged at the moment of each check, so a busy event loop cannot stretch it.
//  4. The store's own list is the last word: what was latched here before that list was made is in force only if the list has it.
//  5. An epoch is claimed only when every halt up to it is known: an approval that carries it must not have missed one.
//  6. A halt is acknowledged when no engine holds a lease, so halts are known only from a read that was begun under the lease which is held.
//  7. Distrust is for good: whoever found the books wrong ends new risk until the process is started again.
import { type Instant, millisecondsBetween } from "../../contracts/src/instant.ts";
import type { ActiveHalt } from "../../contracts/src/records/halt.ts";
import type { Engine } from "../../core/engine/engine.ts";
import type { Health } from "../../ports/health.ts";
import { startLoop } from "../shared/loop.ts";
import type { Lease, ServicePorts } from "../shared/service.ts";
import { type Unlatched, type UnlatchedHalts, unlatchedHalts } from "./unlatched-halts.ts";

/** Every commit of anybody may be reported as a change, so looks that follow a word are at least this far apart. */
const lookMsMin = 50;

export interface HaltWatch {
  /** Call before each check. */
  freshen(at: Instant): void;
  /** Blocks at once what is not latched yet; the epoch is the one known so far. */
  block(halt: Unlatched): void;
  /** Blocks at once what somebody else is about to latch; forgotten after so long unless the store has it by then. */
  announce(halt: Unlatched, ms: number): void;
  /** The store has the last word on what was announced of these. */
  settle(haltIds: readonly string[]): void;
  /** It will not be latched: its id belongs to another one, or its scope is halted as often as can be. */
  unblock(halt: Unlatched): void;
  /** The store has it. */
  latched(halt: ActiveHalt): void;
  /** Reads the halts now; gives the newest epoch. For whoever has just changed them and wants that to hold at once. */
  readNow(): Promise<number>;
  /** How many block that are not known to be latched. */
  unlatchedCounts: UnlatchedHalts["counts"];
  epoch(): number;
  /** Only what is read while this lease is held counts from now on; resolves when that is the case. */
  leased(lease: Pick<Lease, "heldSince">): Promise<void>;
  /** The ids of those that the store has. */
  inForce(): ReadonlySet<string>;
  /** Everything that blocks here, latched or not. */
  enforced(): readonly ActiveHalt[];
  distrust(why: string): void;
  health(): Health;
  stop(): Promise<void>;
}

type Ports = Pick<ServicePorts, "riskStore" | "timers" | "clock" | "log" | "crash" | "settings">;

interface Stored {
  readonly epoch: number;
  readonly active: readonly ActiveHalt[];
}

interface Held {
  readonly stored: Stored;
  readonly ahead: readonly ActiveHalt[];
}

/** Resolves when halts are known. `onChange` runs when a halt or an envelope may have changed elsewhere. */
export async function watchHalts(
  ports: Ports,
  engine: Engine,
  onChange: () => void,
  onEpoch: (epoch: number) => void,
): Promise<HaltWatch> {
  const { riskStore, clock } = ports;
  const { haltPollMs, haltUnknownMs } = ports.settings.risk;
  const unlatched = unlatchedHalts(ports, () => tell());
  /** The epoch up to which everything is known, and that of the last whole list. */
  let stored: Stored = { epoch: 0, active: [] };
  let listedEpoch = -1;
  /** Latched here, after others that are not known yet: they block, and their epoch is not claimed before those are read. */
  let ahead: readonly ActiveHalt[] = [];
  let heardAt = clock.now();
  let lease: Pick<Lease, "heldSince"> | undefined;
  let known = true;
  let distrusted: string | undefined;

  function tell(): void {
    onEpoch(stored.epoch);
    engine.setHalts({
      known: known && distrusted === undefined,
      epoch: stored.epoch,
      active: allOf({ stored, ahead }, unlatched.all()),
    });
  }

  async function read(isFirst: boolean): Promise<void> {
    // The answer is as old as the question.
    const askedAt = clock.now();
    if (isFirst || (await riskStore.haltEpoch()) !== listedEpoch) adopt(await riskStore.halts());
    hear(askedAt);
  }

  function hear(askedAt: Instant): void {
    if (askedAt > heardAt) heardAt = askedAt;
    if (known || whyUnknown(clock.now()) !== undefined) return;
    known = true;
    tell();
    ports.log.info("halts are known again");
  }

  function adopt(halts: { readonly epoch: number; readonly active: readonly ActiveHalt[] }): void {
    if (halts.epoch < stored.epoch) return;
    stored = halts;
    listedEpoch = halts.epoch;
    ahead = ahead.filter(({ epoch }) => epoch > halts.epoch);
    unlatched.settle(halts.active.map(({ halt_id: id }) => id));
    tell();
  }

  const inForce = (): ReadonlySet<string> => new Set([...stored.active, ...ahead].map(({ halt_id: id }) => id));

  function whyUnknown(at: Instant): string | undefined {
    const silentMs = millisecondsBetween(heardAt, at);
    if (silentMs > haltUnknownMs) return `the store has said nothing for ${silentMs} ms`;
    const since = lease === undefined ? heardAt : lease.heldSince();
    return since === undefined || heardAt < since ? "nothing was read since the lease ran out" : undefined;
  }

  function freshen(at: Instant): void {
    if (!known) return;
    const reason = whyUnknown(at);
    if (reason === undefined) return;
    known = false;
    tell();
    ports.log.error("halts are unknown, which counts as halted", { reason });
  }

  async function readNow(): Promise<number> {
    const askedAt = clock.now();
    adopt(await riskStore.halts());
    hear(askedAt);
    return stored.epoch;
  }

  function latched(halt: ActiveHalt): void {
    unlatched.drop(halt);
    if (halt.epoch > listedEpoch) {
      ({ stored, ahead } = withLatched({ stored, ahead }, halt));
      loop.wake();
    }
    tell();
  }

  function health(): Health {
    freshen(clock.now());
    if (distrusted !== undefined) return { status: "failing", complaint: distrusted };
    return known ? { status: "ok" } : { status: "failing", complaint: "whether a halt is in force is not known" };
  }

  await read(true);
  const loop = startLoop({
    ports,
    what: { failing: "halts cannot be read", working: "halts can be read again" },
    firstAfterMs: haltPollMs,
    async run() {
      await read(false);
      return haltPollMs + lookMsMin;
    },
    apartMsMin: lookMsMin,
    troubleMsMax: haltPollMs,
  });
  const stopHearing = riskStore.onChange(() => {
    loop.wake();
    onChange();
  });
  return {
    freshen,
    block: both(unlatched.block, tell),
    announce(halt, ms) {
      if (inForce().has(halt.halt_id)) return;
      unlatched.announce(halt, ms);
      tell();
    },
    settle: both(unlatched.settle, tell),
    unblock: both(unlatched.drop, tell),
    latched,
    readNow,
    async leased(held) {
      lease = held;
      await readNow();
    },
    unlatchedCounts: unlatched.counts,
    epoch: () => stored.epoch,
    inForce,
    enforced: () => allOf({ stored, ahead }, unlatched.all()),
    distrust(why) {
      distrusted = why;
      tell();
    },
    health,
    stop: async () => {
      stopHearing();
      unlatched.stop();
      await loop.stop();
    },
  };
}

/** What is not latched yet has the epoch that is known so far. */
function allOf({ stored, ahead }: Held, unlatched: readonly Unlatched[]): readonly ActiveHalt[] {
  return [...stored.active, ...ahead, ...unlatched.map((halt) => ({ ...halt, epoch: stored.epoch }))];
}

function withLatched({ stored, ahead }: Held, halt: ActiveHalt): Held {
  const but = (halts: readonly ActiveHalt[]) => halts.filter(({ halt_id: id }) => id !== halt.halt_id);
  if (halt.epoch > stored.epoch + 1) return { stored, ahead: [...but(ahead), halt] };
  const epoch = Math.max(stored.epoch, halt.epoch);
  return { stored: { epoch, active: [...but(stored.active), halt] }, ahead };
}

function both<Changed>(change: (changed: Changed) => void, tell: () => void): (changed: Changed) => void {
  return (changed) => {
    change(changed);
    tell();
  };
}

// What the engine claims to know of halts: never an epoch with a gap before it, never anything from before its lease, and a loss that was halted by an
// engine that died with the commit.
import { describe, expect, it } from "vitest";
import type { Instant } from "../../contracts/src/instant.ts";
import { format } from "../../contracts/src/instant.ts";
import type { ActiveHalt } from "../../contracts/src/records/halt.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Engine } from "../../core/engine/engine.ts";
import { quietLog } from "../../testkit/global-setup.ts";
import { riskEngineRig } from "../../testkit/riskengine-rig.ts";
import { scheduler } from "../../testkit/virtual/scheduler.ts";
import { testSettings } from "../../testkit/virtual/service-rig.ts";
import { watchHalts } from "./halt-watch.ts";

const haltOf = (id: string, epoch: number): ActiveHalt => ({
  ...{ severity: "FUND_HALT", fund_id: id, reason: "", requested_by: "x" },
  ...{ halt_id: id, epoch, since: "2026-01-02T00:00:00.000000Z" },
});

interface Halts {
  readonly known?: boolean;
  readonly epoch: number;
  readonly active: readonly ActiveHalt[];
}

/** A store whose halts only a poll finds, and what the engine was told last. */
async function begin() {
  const { clock, timers, finish, run, elapsedMs } = scheduler({ seed: 5 });
  let inStore: Halts = { epoch: 0, active: [] };
  let told: Halts = inStore;
  const riskStore = {
    halts: async () => inStore,
    haltEpoch: async () => inStore.epoch,
    onChange: () => () => undefined,
  };
  const engine = {
    setHalts: (halts: Halts) => {
      told = halts;
    },
  } as unknown as Engine;
  const crash = {
    die: (defect: Error): never => {
      throw defect;
    },
  };
  const ports = { riskStore, clock, timers, crash, log: quietLog, settings: testSettings } as never;
  const nothing = (): undefined => undefined;
  const watch = await finish("the watch", watchHalts(ports, engine, nothing, nothing), 1_000);
  return {
    watch,
    clock,
    finish,
    pass: (ms: number) => run({ untilMs: elapsedMs() + ms }),
    put: (...halts: readonly ActiveHalt[]) => {
      inStore = { epoch: Math.max(...halts.map(({ epoch }) => epoch)), active: halts };
    },
    told: () => {
      watch.freshen(clock.now());
      return { known: told.known, epoch: told.epoch, ids: told.active.map(({ halt_id: id }) => id) };
    },
  };
}

describe("what the engine knows of halts", () => {
  it("5 a halt that was latched here blocks at once, and its epoch is claimed only with all before it", async () => {
    const rig = await begin();
    rig.put(haltOf("elsewhere", 1), haltOf("here", 2));
    rig.watch.latched(haltOf("here", 2));
    expect(rig.told()).toEqual({ known: true, epoch: 0, ids: ["here"] });
    expect([...rig.watch.inForce()]).toEqual(["here"]);
    await rig.pass(300);
    expect(rig.told()).toEqual({ known: true, epoch: 2, ids: ["elsewhere", "here"] });
    rig.watch.latched(haltOf("next", 3));
    expect(rig.told()).toEqual({ known: true, epoch: 3, ids: ["elsewhere", "here", "next"] });
    await rig.finish("the end", rig.watch.stop(), 1_000);
  });

  it("5 a list that was made in between drops nothing that is newer than itself", async () => {
    const rig = await begin();
    rig.watch.latched(haltOf("here", 2));
    rig.put(haltOf("elsewhere", 1));
    await rig.finish("a read", rig.watch.readNow(), 1_000);
    expect(rig.told()).toEqual({ known: true, epoch: 1, ids: ["elsewhere", "here"] });
    await rig.finish("the end", rig.watch.stop(), 1_000);
  });

  it("1 what is announced blocks at once, until the store has it, it is settled, or its time is over", async () => {
    const rig = await begin();
    const { watch, told, pass } = rig;
    const ids = (): readonly string[] => told().ids;
    for (const id of ["latched", "settled", "forgotten"]) watch.announce(haltOf(id, 0), 5_000);
    expect(told()).toEqual({ known: true, epoch: 0, ids: ["latched", "settled", "forgotten"] });
    expect([watch.unlatchedCounts(), [...watch.inForce()]]).toEqual([{ blocked: 0, announced: 3 }, []]);
    rig.put(haltOf("latched", 1));
    await pass(300);
    expect(told()).toEqual({ known: true, epoch: 1, ids: ["latched", "settled", "forgotten"] });
    watch.settle(["settled", "unheard of"]);
    expect(ids()).toEqual(["latched", "forgotten"]);
    watch.announce(haltOf("latched", 0), 5_000);
    expect(watch.unlatchedCounts().announced).toBe(1);
    await pass(4_000);
    watch.announce(haltOf("forgotten", 0), 5_000);
    await pass(2_000);
    expect(ids()).toEqual(["latched", "forgotten"]);
    await pass(3_100);
    expect([ids(), watch.unlatchedCounts()]).toEqual([["latched"], { blocked: 0, announced: 0 }]);
    await rig.finish("the end", watch.stop(), 1_000);
  });

  it("6 what was read before the lease counts no more, neither at the start nor after it had run out", async () => {
    const rig = await begin();
    let since: Instant | undefined;
    rig.put(haltOf("meanwhile", 1));
    since = rig.clock.now();
    await rig.finish("the lease", rig.watch.leased({ heldSince: () => since }), 1_000);
    expect(rig.told()).toEqual({ known: true, epoch: 1, ids: ["meanwhile"] });
    since = undefined;
    expect(rig.told()).toMatchObject({ known: false });
    await rig.pass(1_000);
    expect(rig.told()).toMatchObject({ known: false });
    rig.put(haltOf("meanwhile", 1), haltOf("without us", 2));
    since = rig.clock.now();
    expect(rig.told()).toMatchObject({ known: false });
    await rig.pass(400);
    expect(rig.told()).toEqual({ known: true, epoch: 2, ids: ["meanwhile", "without us"] });
    await rig.finish("the end", rig.watch.stop(), 1_000);
  });
});

describe("a loss whose halt was being latched when the engine was killed", () => {
  for (const fate of ["lost, committed", "lost, not committed"] as const) {
    it(`is one halt for each limit afterwards, when the commit was ${fate}`, async () => {
      const rig = await riskEngineRig({ seed: 8 });
      const life = await rig.start();
      const value = (nav: string): Promise<string> => {
        const as_of = format(rig.time.clock.now());
        return rig.publish(subjects.navUpdated, { fund_id: "alpha", nav, currency: "USD", as_of });
      };
      await value("9000000");
      await rig.pass(50);
      rig.fates.set("risk.nav", [fate]);
      rig.delays.answerMs = 20;
      const before = rig.world.risk.halts.length;
      await value("8990000");
      await rig.pass(10);
      life.process.kill();
      expect(rig.world.risk.halts.length - before).toBe(fate === "lost, committed" ? 3 : 0);
      rig.delays.answerMs = 0;
      const next = await rig.start({ inSilence: true });
      await rig.pass(1_000);
      const limits = rig.published(subjects.riskHaltRequested).map(({ evidence }) => evidence?.["limit"]);
      expect(limits).toEqual(["daily", "weekly", "monthly"]);
      const at = format(rig.time.clock.now());
      rig.outside.bus.broadcast(subjects.marketMarks, { symbol: "AAPL", price: "232.5", source: "rig", at });
      await rig.pass(100);
      const { code } = await rig.finish(next.check({}));
      expect(code).toBe("FUND_HALTED");
      expect(next.deaths).toEqual([]);
    });
  }
});

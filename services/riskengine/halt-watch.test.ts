// What the engine claims to know of halts: never an epoch with a gap before it, never anything from before its lease, and a loss that was halted by an
// engine that died with the commit.
import { describe, expect, it } from "vitest";
import type { Instant } from "../../contracts/src/instant.ts";
import { format } from "../../contracts/src/instant.ts";
import type { ActiveHalt } from "../../contracts/src/records/halt.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Engine } from "../../core/engine/engine.ts";
import { quietLog } from "../../testkit/quiet-log.ts";
import { riskEngineFixture } from "../../testkit/risk/service-fixture.ts";
import { testSettings } from "../../testkit/virtual/memory-platform.ts";
import { scheduler } from "../../testkit/virtual/scheduler.ts";
import { watchHalts } from "./halt-watch.ts";

const haltOf = (id: string, epoch: number): ActiveHalt => ({
  severity: "FUND_HALT",
  fund_id: id,
  reason: "",
  requested_by: "x",
  halt_id: id,
  epoch,
  since: "2026-01-02T00:00:00.000000Z",
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
  let reported: Halts = inStore;
  let isAway = false;
  const answer = async <Value>(value: Value): Promise<Value> => {
    if (isAway) throw new Error("the store is away");
    return value;
  };
  const riskStore = {
    halts: () => answer(inStore),
    haltEpoch: () => answer(inStore.epoch),
    onChange: () => () => undefined,
  };
  const engine = {
    setHalts: (halts: Halts) => {
      reported = halts;
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
    setAway: (away: boolean) => {
      isAway = away;
    },
    put: (...halts: readonly ActiveHalt[]) => {
      inStore = { epoch: Math.max(...halts.map(({ epoch }) => epoch)), active: halts };
    },
    reported: () => {
      watch.freshen(clock.now());
      return { known: reported.known, epoch: reported.epoch, ids: reported.active.map(({ halt_id: id }) => id) };
    },
  };
}

describe("what the engine knows of halts", () => {
  it("5 a halt that was latched here blocks at once, and its epoch is claimed only with all before it", async () => {
    const fixture = await begin();
    fixture.put(haltOf("elsewhere", 1), haltOf("here", 2));
    fixture.watch.latched(haltOf("here", 2));
    expect(fixture.reported()).toEqual({ known: true, epoch: 0, ids: ["here"] });
    expect([...fixture.watch.inForce()]).toEqual(["here"]);
    await fixture.pass(300);
    expect(fixture.reported()).toEqual({ known: true, epoch: 2, ids: ["elsewhere", "here"] });
    fixture.watch.latched(haltOf("next", 3));
    expect(fixture.reported()).toEqual({ known: true, epoch: 3, ids: ["elsewhere", "here", "next"] });
    await fixture.finish("the end", fixture.watch.stop(), 1_000);
  });

  it("5 a list that was made in between drops nothing that is newer than itself", async () => {
    const fixture = await begin();
    fixture.watch.latched(haltOf("here", 2));
    fixture.put(haltOf("elsewhere", 1));
    await fixture.finish("a read", fixture.watch.readNow(), 1_000);
    expect(fixture.reported()).toEqual({ known: true, epoch: 1, ids: ["elsewhere", "here"] });
    await fixture.finish("the end", fixture.watch.stop(), 1_000);
  });

  it("1 what is announced blocks at once, until the store has it, it is settled, or its time is over", async () => {
    const fixture = await begin();
    const { watch, reported, pass } = fixture;
    const ids = (): readonly string[] => reported().ids;
    for (const id of ["latched", "settled", "forgotten"]) watch.announce(haltOf(id, 0), 5_000);
    expect(reported()).toEqual({ known: true, epoch: 0, ids: ["latched", "settled", "forgotten"] });
    expect([watch.unlatchedCounts(), [...watch.inForce()]]).toEqual([{ blocked: 0, announced: 3 }, []]);
    fixture.put(haltOf("latched", 1));
    await pass(300);
    expect(reported()).toEqual({ known: true, epoch: 1, ids: ["latched", "settled", "forgotten"] });
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
    await fixture.finish("the end", watch.stop(), 1_000);
  });

  it("3 are unknown while the store is away, and known again half a second after it is back, however long that took", async () => {
    const fixture = await begin();
    for (const awayMs of [3_000, 10_000, 50_000]) {
      fixture.setAway(true);
      await fixture.pass(awayMs);
      expect(fixture.reported()).toMatchObject({ known: false });
      fixture.setAway(false);
      await fixture.pass(500);
      expect(fixture.reported()).toMatchObject({ known: true });
    }
    await fixture.finish("the end", fixture.watch.stop(), 1_000);
  });

  it("6 what was read before the lease counts no more, neither at the start nor after it had run out", async () => {
    const fixture = await begin();
    let since: Instant | undefined;
    fixture.put(haltOf("meanwhile", 1));
    since = fixture.clock.now();
    await fixture.finish("the lease", fixture.watch.leased({ heldSince: () => since }), 1_000);
    expect(fixture.reported()).toEqual({ known: true, epoch: 1, ids: ["meanwhile"] });
    since = undefined;
    expect(fixture.reported()).toMatchObject({ known: false });
    await fixture.pass(1_000);
    expect(fixture.reported()).toMatchObject({ known: false });
    fixture.put(haltOf("meanwhile", 1), haltOf("without us", 2));
    since = fixture.clock.now();
    expect(fixture.reported()).toMatchObject({ known: false });
    await fixture.pass(400);
    expect(fixture.reported()).toEqual({ known: true, epoch: 2, ids: ["meanwhile", "without us"] });
    await fixture.finish("the end", fixture.watch.stop(), 1_000);
  });
});

describe("a loss whose halt was being latched when the engine was killed", () => {
  for (const fate of ["lost, committed", "lost, not committed"] as const) {
    it(`is one halt for each limit afterwards, when the commit was ${fate}`, async () => {
      const fixture = await riskEngineFixture({ seed: 8 });
      const life = await fixture.start();
      const value = (nav: string): Promise<string> => {
        const as_of = format(fixture.time.clock.now());
        return fixture.publish(subjects.navUpdated, { fund_id: "alpha", nav, currency: "USD", as_of });
      };
      await value("9000000");
      await fixture.pass(50);
      fixture.fates.set("risk.nav", [fate]);
      fixture.delays.answerMs = 20;
      const before = fixture.tables.risk.halts.length;
      await value("8990000");
      await fixture.pass(10);
      life.process.kill();
      expect(fixture.tables.risk.halts.length - before).toBe(fate === "lost, committed" ? 3 : 0);
      fixture.delays.answerMs = 0;
      const next = await fixture.start({ inSilence: true });
      await fixture.pass(1_000);
      const limits = fixture.published(subjects.riskHaltRequested).map(({ evidence }) => evidence?.["limit"]);
      expect(limits).toEqual(["daily", "weekly", "monthly"]);
      const at = format(fixture.time.clock.now());
      fixture.outside.bus.broadcast(subjects.marketMarks, { symbol: "AAPL", price: "232.5", source: "fixture", at });
      await fixture.pass(100);
      const { code } = await fixture.finish(next.check({}));
      expect(code).toBe("FUND_HALTED");
      expect(next.deaths).toEqual([]);
    });
  }
});

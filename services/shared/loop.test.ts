// The loop of the services, in virtual time: how it waits, is woken, meets trouble and ends.
import { describe, expect, it } from "vitest";
import { Defect } from "../../contracts/src/fault.ts";
import { scheduler } from "../../testkit/virtual/scheduler.ts";
import { type LoopOptions, startLoop } from "./loop.ts";

/** When it worked, and what it logged; `work` is what it does, and for how long. */
function begin(options: Partial<LoopOptions> = {}) {
  const time = scheduler({ seed: 1, ties: "fifo" });
  const worked: number[] = [];
  const logged: string[] = [];
  const deaths: Error[] = [];
  const write =
    (level: string) =>
    (message: string): void =>
      void logged.push(`${level} ${message}`);
  const log = {
    debug: () => undefined,
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
    with: () => log,
  };
  const ports = { timers: time.timers, log, crash: { die: (defect: Error) => deaths.push(defect) as never } };
  const { run = async () => 100, ...rest } = options;
  const loop = startLoop({
    ports,
    what: "the work",
    firstAfterMs: 10,
    run(ending) {
      worked.push(time.elapsedMs());
      return run(ending);
    },
    ...rest,
  });
  return { loop, worked, logged, deaths, time, until: (untilMs: number) => time.run({ untilMs }) };
}

const failing = async (): Promise<never> => {
  throw new Error("the store is away");
};

describe("a loop", () => {
  it("works after the first wait, and again after what its work asks for", async () => {
    const { worked, until } = begin();
    await until(250);
    expect(worked).toEqual([10, 110, 210]);
  });

  it("that begins at once does so after the step in which it was started", async () => {
    const { worked, until } = begin({ firstAfterMs: 0 });
    expect(worked).toEqual([]);
    await until(150);
    expect(worked).toEqual([0, 100]);
  });

  it("works at once when it is woken while it waits, and counts its wait anew", async () => {
    const { loop, worked, until } = begin();
    await until(50);
    loop.wake();
    loop.wake();
    await until(160);
    expect(worked).toEqual([10, 50, 150]);
  });

  it("that is woken during its work works once more before it waits", async () => {
    const { loop, worked, time, until } = begin({
      run: async () => {
        await time.timers.sleep(20);
        return 1_000;
      },
    });
    await until(15);
    loop.wake();
    loop.wake();
    await until(500);
    expect(worked).toEqual([10, 30]);
  });

  it("waits until it is woken when its work asks for no time, and before its first time", async () => {
    const { loop, worked, until } = begin({ firstAfterMs: undefined, run: async () => undefined });
    await until(10_000);
    expect(worked).toEqual([]);
    loop.wake();
    await until(20_000);
    loop.wake();
    await until(30_000);
    expect(worked).toEqual([10_000, 20_000]);
  });

  it("keeps its times apart, however often it is woken, and never waits longer than asked", async () => {
    const { loop, worked, until } = begin({ apartMsMin: 50, run: async () => 120 });
    for (const at of [10, 20, 30, 40, 65, 70]) {
      await until(at);
      loop.wake();
    }
    await until(300);
    expect(worked).toEqual([10, 60, 110, 230]);
  });

  it("that is hurried works within that time, and not later for it", async () => {
    const { loop, worked, until } = begin({ run: async () => 1_000 });
    await until(20);
    loop.hurry(300);
    await until(400);
    expect(worked).toEqual([10, 320]);
    loop.hurry(5_000);
    await until(1_400);
    expect(worked).toEqual([10, 320, 1_320]);
  });

  it("that is stopped ends the work in hand, tells it so, and works no more", async () => {
    const seen: boolean[] = [];
    const { loop, worked, time, until } = begin({
      run: async (ending) => {
        await time.timers.sleep(100);
        seen.push(ending.aborted);
        return 10;
      },
    });
    await until(50);
    await time.finish("stop", loop.stop());
    expect(time.elapsedMs()).toBe(110);
    loop.wake();
    loop.hurry(1);
    await until(1_000);
    expect([worked, seen]).toEqual([[10], [true]]);
  });

  it.each([undefined, 60_000])("that is stopped while it waits (%s ms) ends at once", async (firstAfterMs) => {
    const { loop, worked, time } = begin({ firstAfterMs });
    await time.finish("stop", loop.stop());
    expect([time.elapsedMs(), worked]).toEqual([0, []]);
  });
});

describe("a loop in trouble", () => {
  it("says so once and its end once, and says it again the next time", async () => {
    let isAway = true;
    const { logged, until, time } = begin({ run: () => (isAway ? failing() : Promise.resolve(1_000)) });
    await until(20_000);
    isAway = false;
    await until(40_000);
    expect(logged).toEqual(["warn the work cannot work", "info the work can work again"]);
    isAway = true;
    await time.run({ untilMs: 60_000 });
    expect(logged.slice(2)).toEqual(["warn the work cannot work"]);
  });

  it("says it in its own words where it has some", async () => {
    const { logged, until } = begin({ what: { failing: "no", working: "yes" }, run: failing });
    await until(5_000);
    expect(logged).toEqual(["warn no"]);
  });

  it("waits twice as long each time, up to a quarter of a minute, and is as quick as ever afterwards", async () => {
    let isAway = true;
    const { worked, until } = begin({ run: () => (isAway ? failing() : Promise.resolve(100)) });
    await until(46_000);
    expect(worked).toEqual([10, 1_010, 3_010, 7_010, 15_010, 30_010, 45_010]);
    isAway = false;
    await until(60_200);
    expect(worked.slice(7)).toEqual([60_010, 60_110]);
  });

  it("never waits longer than it is allowed to", async () => {
    const { worked, until } = begin({ troubleMsMax: 250, run: failing });
    await until(1_100);
    expect(worked).toEqual([10, 260, 510, 760, 1_010]);
  });

  it("is woken all the same", async () => {
    const { loop, worked, until } = begin({ run: failing });
    await until(40_000);
    loop.wake();
    await until(40_001);
    expect(worked.at(-1)).toBe(40_000);
  });

  it("that is a Defect ends, and with it the process", async () => {
    const defect = new Defect("we were wrong");
    const { loop, worked, deaths, time, until } = begin({
      run: async () => {
        throw defect;
      },
    });
    await until(100_000);
    loop.wake();
    await until(200_000);
    await time.finish("stop", loop.stop());
    expect([worked, deaths]).toEqual([[10], [defect]]);
  });
});

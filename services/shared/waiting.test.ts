// Waits that end, in virtual time.
import { describe, expect, it } from "vitest";
import { scheduler } from "../../testkit/virtual/scheduler.ts";
import { endsWithin, pollUntil, within } from "./waiting.ts";

const never = new Promise<never>(() => undefined);

describe("asking until there is an answer", () => {
  function asked(answersAt = Number.POSITIVE_INFINITY) {
    const time = scheduler({ seed: 2 });
    const times: number[] = [];
    const ask = async (): Promise<string | undefined> => {
      times.push(time.elapsedMs());
      return times.length === answersAt ? "yes" : undefined;
    };
    return { time, times, ask };
  }

  it("begins at once, goes on at its pace and gives the answer", async () => {
    const { time, times, ask } = asked(3);
    const answer = await time.finish("answer", pollUntil({ timers: time.timers, everyMs: 50 }, ask));
    expect([answer, times]).toEqual(["yes", [0, 50, 100]]);
  });

  it("waits twice as long each time, up to a bound", async () => {
    const { time, times, ask } = asked(6);
    const polling = { timers: time.timers, firstAfterMs: 10, everyMs: 100, everyMsMax: 350 };
    await time.finish("answer", pollUntil(polling, ask));
    expect(times).toEqual([10, 110, 310, 660, 1_010, 1_360]);
  });

  it("ends after as many times as are allowed, and when it is over", async () => {
    const { time, times, ask } = asked();
    expect(
      await time.finish("bound", pollUntil({ timers: time.timers, everyMs: 1, timesMax: 4 }, ask)),
    ).toBeUndefined();
    expect(times.length).toBe(4);
    const isOver = (): boolean => time.elapsedMs() >= 10;
    await time.finish("over", pollUntil({ timers: time.timers, everyMs: 1, isOver }, ask));
    expect(time.elapsedMs()).toBe(10);
  });

  it("ends its wait and asks no more when its signal says so", async () => {
    const { time, times, ask } = asked();
    const ending = new AbortController();
    const polling = pollUntil({ timers: time.timers, everyMs: 1_000, signal: ending.signal }, ask);
    await time.run({ untilMs: 1_500 });
    ending.abort();
    expect(await time.finish("end", polling)).toBeUndefined();
    expect([time.elapsedMs(), times]).toEqual([1_500, [0, 1_000]]);
  });
});

describe("waiting in time", () => {
  it("gives what comes of the work, and leaves no timer behind", async () => {
    const time = scheduler({ seed: 3 });
    expect(await time.finish("work", within(time.timers, 1_000, Promise.resolve(7), "late"))).toBe(7);
    expect(time.pending()).toBe(0);
    const failed = within(time.timers, 1_000, Promise.reject(new Error("no")), "late");
    await expect(time.finish("work", failed)).rejects.toThrow("no");
  });

  it("says that it is late, or that nothing waits any more", async () => {
    const time = scheduler({ seed: 4 });
    expect(await time.finish("late", within(time.timers, 1_000, never, "late"))).toBe("late");
    const ending = new AbortController();
    const waiting = within(time.timers, 1_000, never, "late", ending.signal);
    ending.abort();
    expect(await time.finish("end", waiting)).toBe("late");
    expect(time.elapsedMs()).toBe(1_000);
  });

  it("knows whether work has ended, in whichever way", async () => {
    const time = scheduler({ seed: 5 });
    expect(await time.finish("failed", endsWithin(time.timers, Promise.reject(new Error("no")), 10))).toBe(true);
    expect(await time.finish("late", endsWithin(time.timers, never, 10))).toBe(false);
  });
});

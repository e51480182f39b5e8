// The scheduler: one seed is one run, time passes only when it is told to, and a run that hangs says so.
import { describe, expect, it } from "vitest";
import { priorityQueue } from "./priority-queue.ts";
import { prng } from "./prng.ts";
import { scheduler } from "./scheduler.ts";

/** A small busy world: workers that sleep for thrown times and write down what they did. */
async function traceOf(seed: number, ties: "seeded" | "fifo" = "seeded"): Promise<string> {
  const time = scheduler({ seed, ties });
  const lines: string[] = [];
  const worker = async (name: string) => {
    const own = time.prng.fork(name);
    for (let round = 0; round < 20; round += 1) {
      await time.timers.sleep(own.below(5));
      await Promise.resolve();
      lines.push(`${time.clock.now()} ${name} ${round} ${own.uuid()}`);
    }
  };
  await time.finish("the workers", Promise.all(["a", "b", "c", "d"].map(worker)));
  return lines.join("\n");
}

describe("scheduler", () => {
  it("4: gives the same trace for the same seed, byte for byte, and another for another seed", async () => {
    expect(await traceOf(1)).toBe(await traceOf(1));
    expect(await traceOf(1)).not.toBe(await traceOf(2));
    expect(await traceOf(2 ** 53 - 1)).not.toBe(await traceOf(2 ** 52));
  });

  it("1: lets no time pass by itself, and any amount at once", async () => {
    const time = scheduler({ seed: 1 });
    const before = time.clock.now();
    let fired = false;
    time.timers.after(86_400_000, () => {
      fired = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(time.clock.now()).toBe(before);
    await time.run({ untilMs: 86_399_999 });
    expect(fired).toBe(false);
    expect(time.elapsedMs()).toBe(86_399_999);
    await time.run({ untilMs: 90_000_000 });
    expect(fired).toBe(true);
    expect(time.clock.now() - before).toBe(90_000_000_000);
    expect(time.steps()).toBe(1);
  });

  it("2: fires in order of time, at equal times by the seed or first come first served", async () => {
    const order = async (seed: number, ties: "seeded" | "fifo") => {
      const time = scheduler({ seed, ties });
      const fired: string[] = [];
      for (const name of ["a", "b", "c", "d", "e", "f"]) time.timers.after(5, () => fired.push(name));
      time.timers.after(1, () => fired.push("first"));
      await time.run({});
      return fired.join(" ");
    };
    expect(await order(1, "fifo")).toBe("first a b c d e f");
    const seeded = await Promise.all([1, 2, 3, 4, 5].map((seed) => order(seed, "seeded")));
    expect(new Set(seeded).size).toBeGreaterThan(1);
    expect(seeded.every((fired) => fired.startsWith("first "))).toBe(true);
  });

  it("3: lets every promise chain go on before the next step", async () => {
    const time = scheduler({ seed: 1, ties: "fifo" });
    const seen: string[] = [];
    const chain = async () => {
      await time.timers.sleep(1);
      for (let hop = 0; hop < 50; hop += 1) await Promise.resolve();
      seen.push("end of the chain");
    };
    const running = chain();
    time.timers.after(1, () => seen.push("next step"));
    await time.run({});
    await running;
    expect(seen).toEqual(["end of the chain", "next step"]);
  });

  it("cancels timers and wakes sleepers by signal", async () => {
    const time = scheduler({ seed: 1 });
    let fired = 0;
    const cancel = time.timers.after(10, () => {
      fired += 1;
    });
    cancel();
    cancel();
    const abort = new AbortController();
    const sleeping = time.timers.sleep(1_000_000, abort.signal);
    time.timers.after(5, () => abort.abort());
    await time.finish("the sleeper", sleeping);
    await time.timers.sleep(1, abort.signal);
    expect(time.elapsedMs()).toBe(5);
    expect(time.pending()).toBe(0);
    expect(fired).toBe(0);
  });

  it("says who waits in vain when nothing is left to do, and when the steps are used up", async () => {
    const time = scheduler({ seed: 1 });
    const hanging = (async () => {
      await time.timers.sleep(7);
      await new Promise(() => undefined);
    })();
    await expect(time.finish("the hanging one", hanging)).rejects.toThrow(
      /the hanging one has not finished after 1 steps, at 7 ms, and nothing is left to do/,
    );
    const forever = () => time.timers.after(1, forever);
    forever();
    await expect(time.finish("the hanging one", hanging, 50)).rejects.toThrow(/it was given 50 steps/);
  });

  it("hands on what a promise rejects with and what a timer throws", async () => {
    const time = scheduler({ seed: 1 });
    const failing = time.timers.sleep(1).then(() => Promise.reject(new Error("planned")));
    await expect(time.finish("the failing one", failing)).rejects.toThrow("planned");
    time.timers.after(1, () => {
      throw new Error("thrown by a timer");
    });
    await expect(time.run({})).rejects.toThrow("thrown by a timer");
  });
});

describe("a PRNG", () => {
  it("are even, stay within their bounds, and fork into streams of their own", () => {
    const thrown = prng(7);
    const counts = new Array<number>(6).fill(0);
    for (let n = 0; n < 60_000; n += 1) {
      const face = thrown.below(6);
      counts[face] = (counts[face] ?? 0) + 1;
    }
    for (const count of counts) expect(Math.abs(count - 10_000)).toBeLessThan(500);
    expect(thrown.uuid()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const forks = ["a", "b", "c"].map((purpose) => prng(7).fork(purpose).word());
    expect(new Set(forks).size).toBe(3);
    expect(prng(7).fork("a").word()).toBe(forks[0]);
    expect(prng(8).fork("a").word()).not.toBe(forks[0]);
    expect(() => prng(-1)).toThrow(/whole number/);
    const firsts = new Set(Array.from({ length: 2_000 }, (_unused, seed) => prng(seed).word()));
    expect(firsts.size).toBeGreaterThan(1_995);
  });
});

describe("priority queue", () => {
  it("gives back sorted whatever was put in", () => {
    const seed = 11;
    const thrown = prng(seed);
    const queue = priorityQueue<number>((one, other) => one < other);
    const put = Array.from({ length: 500 }, () => thrown.below(1_000));
    for (const item of put) queue.push(item);
    const got: number[] = [];
    while (queue.first() !== undefined) got.push(queue.pop() ?? Number.NaN);
    expect(got, `seed ${seed}`).toEqual([...put].sort((one, other) => one - other));
    expect(queue.pop()).toBeUndefined();
  });
});

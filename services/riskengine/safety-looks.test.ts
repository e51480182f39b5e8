// One look for all that the engine must know, in virtual time: who hears from it and how often, that halts never wait for the rest, and that the rest goes on
// where the look does not tell.
import { beforeEach, describe, expect, it } from "vitest";
import { millisecondsBetween } from "../../contracts/src/instant.ts";
import type { SafetyAnswer, SafetyQuestion } from "../../ports/safety-reads.ts";
import { quietLog } from "../../testkit/quiet-log.ts";
import { type Scheduler, scheduler } from "../../testkit/virtual/scheduler.ts";
import { createSafetyLooks, type SafetyLooks, startReader } from "./safety-looks.ts";

let time: Scheduler;
let looks: SafetyLooks;
/** How the common read behaves. */
let common: "answers" | "fails" | "hangs";
let answerMs: number;
let asked: (readonly SafetyQuestion[])[];
let alone: Record<"halts" | "restrictions" | "unaudited", number>;
let informed: Record<"restrictions" | "unaudited", number[]>;
let release: () => void;
let isInformed: Record<"restrictions" | "unaudited", () => boolean>;

beforeEach(() => {
  time = scheduler({ seed: 43 });
  [common, answerMs, asked] = ["answers", 5, []];
  alone = { halts: 0, restrictions: 0, unaudited: 0 };
  informed = { restrictions: [], unaudited: [] };
  const safetyReads = {
    async read(questions: readonly SafetyQuestion[]): Promise<SafetyAnswer> {
      asked.push([...questions].sort());
      if (common === "fails") throw new Error("planned");
      if (common === "hangs") {
        await new Promise<void>((resolve) => {
          release = resolve;
        });
      }
      await time.timers.sleep(answerMs);
      return { haltEpoch: 7, facts: { restrictions: [], unaudited: [] } };
    },
  };
  const riskStore = {
    haltEpoch: async () => {
      alone.halts += 1;
      return 8;
    },
  };
  looks = createSafetyLooks({ ...time, riskStore, safetyReads, log: quietLog } as never);
  const follow = (question: "restrictions" | "unaudited", everyMs: number) =>
    looks.follow({
      question,
      everyMs,
      ask: (at) => () => informed[question].push(millisecondsBetween(begunAt, at)),
      alone: async () => {
        alone[question] += 1;
      },
    });
  const begunAt = time.clock.now();
  isInformed = { restrictions: follow("restrictions", 250), unaudited: follow("unaudited", 400) };
});

/** As the watch of the halts looks: 300 ms apart. */
async function look(times: number): Promise<readonly number[]> {
  const took: number[] = [];
  for (let turn = 0; turn < times; turn += 1) {
    await time.run({ untilMs: time.elapsedMs() + 300 });
    const begun = time.elapsedMs();
    await time.finish("the look", looks.haltEpoch());
    took.push(time.elapsedMs() - begun);
  }
  return took;
}

describe("a look", () => {
  it("is one read for all who are due, each as often as it would read by itself", async () => {
    await look(20);
    expect([asked.length, alone]).toEqual([20, { halts: 0, restrictions: 0, unaudited: 0 }]);
    expect(informed.restrictions).toHaveLength(20);
    expect(informed.unaudited).toHaveLength(20);
    const apart = informed.unaudited.slice(1).map((at, place) => at - (informed.unaudited[place] ?? 0));
    expect(Math.max(...apart)).toBeLessThan(700);
    expect([isInformed.restrictions(), isInformed.unaudited()]).toEqual([true, true]);
  });

  it("reads the halts alone when nobody else is due", async () => {
    await look(1);
    await time.finish("a second look", looks.haltEpoch());
    expect([asked.length, alone.halts]).toEqual([1, 1]);
  });

  it("that fails is followed by reads of each alone, at once, and for some seconds nothing is read together", async () => {
    common = "fails";
    expect(Math.max(...(await look(10)))).toBe(0);
    expect(asked).toHaveLength(1);
    expect(alone).toEqual({ halts: 10, restrictions: 10, unaudited: 10 });
    common = "answers";
    await look(10);
    expect(asked.length).toBeGreaterThan(1);
    expect(alone.halts).toBeLessThan(20);
  });

  it("that hangs keeps halts waiting for 200 ms, once, and is not begun again beside itself", async () => {
    common = "hangs";
    const took = await look(40);
    expect(took[0]).toBe(200);
    expect(Math.max(...took.slice(1))).toBe(0);
    expect(asked).toHaveLength(1);
    expect(alone).toEqual({ halts: 40, restrictions: 40, unaudited: 40 });
    common = "answers";
    release();
    await look(40);
    expect(asked.length).toBeGreaterThan(10);
    // What came after all was of no use to anybody.
    expect(informed.restrictions[0]).toBeGreaterThan(40 * 300);
  });

  it("that is answered too late, again and again, keeps halts waiting seldom", async () => {
    answerMs = 250;
    const took = await look(60);
    expect(took.filter((ms) => ms > 0).length).toBeLessThanOrEqual(4);
    expect(alone.halts).toBe(60);
  });

  it("that nobody makes any more leaves everybody to themselves", async () => {
    await look(3);
    expect([isInformed.restrictions(), isInformed.unaudited()]).toEqual([true, true]);
    await time.run({ untilMs: time.elapsedMs() + 720 });
    expect([isInformed.restrictions(), isInformed.unaudited()]).toEqual([false, false]);
  });
});

describe("a reader", () => {
  const everyMs = 250;
  let read: (() => Promise<readonly string[]>) | undefined;
  let told: ((answer: readonly string[]) => void) | undefined;
  let reads: number;
  let judged: number;
  let heard: unknown;

  async function reader(): Promise<{ stop(): Promise<void> }> {
    [read, told, reads, judged, heard] = [undefined, undefined, 0, 0, undefined];
    const looked = {
      haltEpoch: async () => 1,
      follow: (follower: { ask(at: unknown): typeof told; alone(): Promise<void> }) => {
        told = follower.ask(time.clock.now());
        void follower.alone();
        return () => false;
      },
    };
    return startReader({ ...time, log: quietLog, crash: { die: () => undefined } } as never, looked as never, {
      question: "restrictions",
      everyMs,
      ask: () => {
        reads += 1;
        return (read?.() ?? Promise.resolve(["first"])) as never;
      },
      hear: (fact) => {
        heard = fact;
      },
      judge: () => {
        judged += 1;
      },
      trouble: { failing: "", working: "" },
    });
  }

  it("begins no read beside one that hangs, and judges all the same", async () => {
    const running = await reader();
    read = () => new Promise(() => undefined);
    await time.run({ untilMs: time.elapsedMs() + 10 * everyMs });
    expect(reads).toBeLessThanOrEqual(4);
    expect(judged).toBeGreaterThan(4);
    await running.stop();
  });

  it("is not told what was by an answer that comes after that to a later question", async () => {
    const running = await reader();
    const earlier = told;
    read = async () => ["later"];
    await time.run({ untilMs: time.elapsedMs() + 3 * everyMs });
    expect(heard).toEqual(["later"]);
    earlier?.(["what was"]);
    expect(heard).toEqual(["later"]);
    await running.stop();
  });
});

// One look for all that the engine must know, in virtual time: who hears from it and how often, that halts never wait for the rest, and that the rest goes on
// where the look does not tell.
import { beforeEach, describe, expect, it } from "vitest";
import { millisecondsBetween } from "../../contracts/src/instant.ts";
import type { SafetyAnswer, SafetyQuestion } from "../../ports/safety-reads.ts";
import { quietLog } from "../../testkit/quiet-log.ts";
import { type Scheduler, scheduler } from "../../testkit/virtual/scheduler.ts";
import { createSafetyLooks, type SafetyLooks } from "./safety-looks.ts";

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

const never = new Promise<never>(() => undefined);

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
      hear: (_fact, at) => informed[question].push(millisecondsBetween(begunAt, at)),
      alone: async () => {
        alone[question] += 1;
        if (common === "hangs") await never;
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

  it("that hangs keeps halts waiting for 200 ms, once, is not begun again beside itself, and no reader is", async () => {
    common = "hangs";
    const took = await look(40);
    expect(took[0]).toBe(200);
    expect(Math.max(...took.slice(1))).toBe(0);
    expect(asked).toHaveLength(1);
    expect(alone).toEqual({ halts: 40, restrictions: 1, unaudited: 1 });
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

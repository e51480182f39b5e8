// Turns of the loop, with a loop and a clock that the test moves: what waits for whom when more is asked than can be done at once.
import { describe, expect, it } from "vitest";
import { type Lane, laneOf } from "../../contracts/src/doors/lanes.ts";
import { fromUnixMs } from "../../contracts/src/instant.ts";
import { createTurns } from "./turns.ts";

/** Each piece of work that begins takes `workMs`, and is named in `begun`. */
function fixture(workMs = 20) {
  let nowMs = 1_000_000;
  const later: (() => void)[] = [];
  const turns = createTurns({
    clock: { now: () => fromUnixMs(nowMs) },
    timers: { soon: (run) => void later.push(run) },
  });
  const begun: string[] = [];
  const work = (name: string): void => {
    begun.push(name);
    nowMs += workMs;
  };
  const ask = (name: string, lane: Lane | undefined, urgency?: number): void => {
    const turn = turns.take(lane, urgency);
    if (turn === undefined) work(name);
    else void turn.then(() => work(name));
  };
  /** One turn of the loop, with all that follows from it. */
  const turn = async (): Promise<void> => {
    for (const run of later.splice(0)) run();
    for (let step = 0; step < 5; step += 1) await Promise.resolve();
  };
  return { ask, turn, begun, arrived: turns.arrived, isIdle: () => later.length === 0 };
}

describe("turns of the loop", () => {
  it("begin at once as long as one turn has not taken its slice", async () => {
    const { ask, turn, begun, isIdle } = fixture(1);
    for (let at = 0; at < 10; at += 1) ask(`known ${at}`, "known");
    expect(begun).toHaveLength(10);
    ask("one more", "known");
    expect(begun).toHaveLength(10);
    await turn();
    expect(begun).toHaveLength(11);
    await turn();
    expect(isIdle()).toBe(true);
  });

  it("keep a halt waiting for nobody, and its status for one piece of work of each lane at most", async () => {
    const { ask, turn, begun } = fixture();
    for (let at = 0; at < 50; at += 1) ask(`known ${at}`, "known");
    for (let at = 0; at < 50; at += 1) ask(`stranger ${at}`, "stranger");
    ask("halt", undefined);
    expect(begun).toEqual(["known 0", "halt"]);
    ask("status", "halt_status");
    ask("log-in", "log_in");
    for (let step = 0; step < 4; step += 1) await turn();
    expect(begun.slice(2).toSorted()).toEqual(["known 1", "log-in", "status", "stranger 0"]);
  });

  it("let a crowd at the door in, one with each turn, without a piece of work for each of them", async () => {
    const { ask, turn, begun, arrived } = fixture();
    for (let at = 0; at < 100; at += 1) ask(`stranger ${at}`, "stranger");
    for (let at = 0; at < 500; at += 1) {
      arrived();
      await turn();
    }
    expect(begun.length).toBeLessThanOrEqual(1 + Math.ceil(500 / 32));
    // And a crowd without an end keeps no work from beginning.
    expect(begun.length).toBeGreaterThan(10);
    for (let at = 0; at < 100; at += 1) await turn();
    expect(begun).toHaveLength(100);
  });

  it("give what begins at once no slice of its own for each connection that comes in", async () => {
    const { ask, turn, begun, arrived } = fixture(5);
    for (let at = 0; at < 30; at += 1) {
      ask(`known ${at}`, "known");
      arrived();
      await turn();
    }
    expect(begun).toHaveLength(2);
  });

  it("begin one waiting piece of work in each turn, and all of them in the end", async () => {
    const { ask, turn, begun, isIdle } = fixture();
    for (let at = 0; at < 5; at += 1) ask(`known ${at}`, "known");
    for (let count = 1; count <= 5; count += 1) {
      expect(begun).toHaveLength(count);
      await turn();
    }
    await turn();
    expect(begun).toEqual(["known 0", "known 1", "known 2", "known 3", "known 4"]);
    expect(isIdle()).toBe(true);
  });

  it("begin in a lane with whoever asked least", async () => {
    const { ask, turn, begun } = fixture();
    ask("first", "log_in", 1);
    for (let at = 0; at < 20; at += 1) ask("flood", "log_in", 0.1);
    ask("honest", "log_in", 0.9);
    await turn();
    expect(begun).toEqual(["first", "honest"]);
  });
});

describe("the lane of a request", () => {
  it("is nobody's turn for a halt with a verified token, and a stranger's for one without", () => {
    expect(laneOf("RequestHalt", true)).toBeUndefined();
    expect(laneOf("RequestHalt", false)).toBe("stranger");
    expect(laneOf("GetHaltStatus", true)).toBe("halt_status");
    expect(laneOf("GetHaltStatus", false)).toBe("stranger");
    expect([laneOf("LogIn", false), laneOf("ReadHealth", false)]).toEqual(["log_in", "health"]);
    expect([laneOf(undefined, true), laneOf("DiffEnvelopes", true)]).toEqual(["known", "known"]);
  });
});

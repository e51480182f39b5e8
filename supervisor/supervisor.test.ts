// The supervisor's seven invariants, on pretended processes and real timers made short.
import { describe, expect, test } from "vitest";
import { systemClock } from "../adapters/system/clock.ts";
import type { FromService, PartExit, PartProcess } from "../adapters/system/service-process.ts";
import { systemTimers } from "../adapters/system/timers.ts";
import type { Instant } from "../contracts/src/instant.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import { createSupervisor, inStartOrder, type PartPlan } from "./supervisor.ts";

interface FakeService extends PartProcess {
  say(message: FromService): void;
  end(exit: PartExit): void;
  readonly stopRequested: () => boolean;
}

function fakePart(trace: string[], name: string, pid: number): FakeService {
  let say: (message: FromService) => void = () => undefined;
  let end: (exit: PartExit) => void = () => undefined;
  let asked = false;
  const said = new Promise<FromService>((resolve) => {
    say = resolve;
  });
  const exited = new Promise<PartExit>((resolve) => {
    end = resolve;
  });
  return {
    pid,
    exited,
    outcome: Promise.race([said, exited.then((exit) => ({ type: "exited" as const, exit }))]),
    say,
    end,
    stopRequested: () => asked,
    stop: async () => {
      asked = true;
      trace.push(`stop ${name}`);
      end({ code: 0, signal: null });
      return exited;
    },
  };
}

const lines: string[] = [];
const log: Log = {
  debug: () => undefined,
  info: (message) => void lines.push(message),
  warn: (message) => void lines.push(message),
  error: (message) => void lines.push(message),
  with: () => log,
};

const plans: readonly PartPlan[] = [
  { name: "gateway", needs: ["oms", "riskengine"] },
  { name: "oms", needs: ["riskengine"] },
  { name: "riskengine", needs: [] },
];

interface Fixture {
  readonly trace: string[];
  readonly parts: Map<string, FakeService>;
  readonly supervisor: ReturnType<typeof createSupervisor>;
}

/** `ready` decides what a part does when it is spawned; by default it is ready at once. */
function fixture(
  behave: (name: string, part: FakeService, count: number) => void = (_, part) =>
    part.say({ type: "ready", addresses: {} }),
  clock: Clock = systemClock(),
  chosen: readonly PartPlan[] = plans,
): Fixture {
  const trace: string[] = [];
  const parts = new Map<string, FakeService>();
  const counts = new Map<string, number>();
  let pid = 100;
  const supervisor = createSupervisor({
    parts: chosen,
    spawn: (name) => {
      trace.push(`spawn ${name}`);
      pid += 1;
      const part = fakePart(trace, name, pid);
      parts.set(name, part);
      const count = (counts.get(name) ?? 0) + 1;
      counts.set(name, count);
      behave(name, part, count);
      return part;
    },
    clock,
    timers: systemTimers(),
    log,
    startTimeoutMs: 200,
    stopGraceMs: 50,
    backoffFirstMs: 1,
    backoffMaxMs: 4,
    failuresMax: 3,
    steadyMs: 60_000,
    changed: () => undefined,
  });
  return { trace, parts, supervisor };
}

async function until(condition: () => boolean): Promise<void> {
  for (let tries = 0; tries < 500 && !condition(); tries += 1) await systemTimers().sleep(2);
  expect(condition()).toBe(true);
}

describe("the supervisor", () => {
  test("invariant 1: starts by need and stops in reverse", async () => {
    const { trace, supervisor } = fixture();
    await supervisor.start();
    await supervisor.stop();
    expect(trace).toEqual([
      "spawn riskengine",
      "spawn oms",
      "spawn gateway",
      "stop gateway",
      "stop oms",
      "stop riskengine",
    ]);
  });

  test("invariant 2: a part that says why it cannot start is quoted, and the others are stopped", async () => {
    const { trace, supervisor } = fixture((name, part) =>
      part.say(
        name === "oms"
          ? { type: "failed", code: "PORT_IN_USE", message: "port 1 is taken" }
          : { type: "ready", addresses: {} },
      ),
    );
    await expect(supervisor.start()).rejects.toThrow("oms could not start: port 1 is taken");
    expect(trace).toContain("stop riskengine");
    expect(trace).not.toContain("spawn gateway");
  });

  test("invariant 2: one that found the database away is tried again, a few times", async () => {
    const away = { type: "failed", code: "STORE_UNAVAILABLE", message: "it was ended", isPassing: true } as const;
    const passes = fixture((name, part, count) =>
      part.say(name === "oms" && count < 3 ? away : { type: "ready", addresses: {} }),
    );
    await passes.supervisor.start();
    expect(passes.trace.filter((line) => line === "spawn oms")).toHaveLength(3);
    expect(passes.trace.filter((line) => line === "spawn riskengine")).toHaveLength(1);
    await passes.supervisor.stop();
    const stays = fixture((name, part) => part.say(name === "oms" ? away : { type: "ready", addresses: {} }));
    await expect(stays.supervisor.start()).rejects.toThrow("oms could not start: it was ended");
    expect(stays.trace.filter((line) => line === "spawn oms")).toHaveLength(4);
    expect(stays.trace).toContain("stop riskengine");
  });

  test("invariant 2: one that dies silently and one that never answers are named too", async () => {
    const dies = fixture((_, part) => part.end({ code: null, signal: "SIGSEGV" }));
    await expect(dies.supervisor.start()).rejects.toThrow("riskengine could not start: killed by SIGSEGV");
    const hangs = fixture(() => undefined);
    await expect(hangs.supervisor.start()).rejects.toThrow("riskengine could not start: it was not ready within 0.2 s");
  });

  test("invariant 3: a part that dies is started again, and that is said", async () => {
    const { trace, parts, supervisor } = fixture();
    await supervisor.start();
    lines.length = 0;
    parts.get("oms")?.end({ code: null, signal: "SIGKILL" });
    await until(() => supervisor.parts().some((part) => part.name === "oms" && part.restarts === 1));
    expect(trace.filter((line) => line === "spawn oms")).toHaveLength(2);
    expect(lines).toEqual(["a part ended and is started again", "a part is back"]);
    await supervisor.stop();
  });

  test("invariant 4: one that cannot be started again ends nobody else: that is said once, and it comes back when it can", async () => {
    let isBroken = true;
    const { parts, supervisor, trace } = fixture((name, part, count) => {
      if (name === "oms" && count > 1 && isBroken) part.end({ code: 1, signal: null });
      else part.say({ type: "ready", addresses: {} });
    });
    await supervisor.start();
    let gaveUp = false;
    void supervisor.gaveUp.then(() => {
      gaveUp = true;
    });
    lines.length = 0;
    parts.get("oms")?.end({ code: 1, signal: null });
    const spawned = () => trace.filter((line) => line === "spawn oms").length;
    await until(() => spawned() > 6);
    expect(lines.filter((line) => line.includes("the platform goes on without it"))).toHaveLength(1);
    expect(gaveUp).toBe(false);
    expect(supervisor.parts().map(({ name }) => name)).toEqual(expect.arrayContaining(["riskengine", "gateway"]));
    isBroken = false;
    await until(() => supervisor.parts().some(({ name, ready }) => name === "oms" && ready));
    await supervisor.stop();
  });

  test("invariant 5: a service that does not come back ends the restart with why, and nothing after it is restarted", async () => {
    const { supervisor, trace } = fixture((name, part, count) => {
      if (name === "oms" && count > 1) part.end({ code: 1, signal: null });
      else part.say({ type: "ready", addresses: {} });
    });
    await supervisor.start();
    trace.length = 0;
    await expect(supervisor.restart(["riskengine", "oms", "gateway"])).rejects.toThrow(
      "oms did not come back and is tried again; what comes after it was not restarted. oms could not start: exited with code 1",
    );
    expect(trace).not.toContain("stop gateway");
    await supervisor.stop();
  });

  test("invariant 3: one that keeps being killed keeps coming back", async () => {
    const { parts, supervisor } = fixture();
    await supervisor.start();
    for (let kill = 1; kill <= 10; kill += 1) {
      parts.get("oms")?.end({ code: null, signal: "SIGKILL" });
      await until(() => supervisor.parts().some((part) => part.name === "oms" && part.restarts === kill));
    }
    await supervisor.stop();
  });

  test("invariant 5: restarts those that are named, each after the one before is back; asking twice at once is once", async () => {
    const { supervisor, trace } = fixture();
    await supervisor.start();
    const pidOf = (name: string) => supervisor.parts().find((part) => part.name === name)?.pid;
    const before = { gateway: pidOf("gateway"), oms: pidOf("oms"), riskengine: pidOf("riskengine") };
    trace.length = 0;
    const asked = ["oms", "riskengine"];
    const [done, again] = await Promise.all([supervisor.restart(asked), supervisor.restart(asked)]);
    expect(again).toBe(done);
    expect(done.map(({ name }) => name)).toEqual(["riskengine", "oms"]);
    expect(trace.filter((line) => line.startsWith("stop"))).toEqual(["stop riskengine", "stop oms"]);
    expect(pidOf("riskengine")).not.toBe(before.riskengine);
    expect(done.map(({ pid }) => pid)).toEqual([pidOf("riskengine"), pidOf("oms")]);
    expect(pidOf("gateway")).toBe(before.gateway);
    expect(supervisor.parts().every(({ ready }) => ready)).toBe(true);
    await supervisor.stop();
  });

  test("invariant 5: a stop ends a restart whose part does not come back", async () => {
    const { supervisor } = fixture((_name, part, count) => {
      if (count === 1) part.say({ type: "ready", addresses: {} });
    });
    await supervisor.start();
    const restart = supervisor.restart(["riskengine"]);
    await supervisor.stop();
    await expect(restart).resolves.toEqual([]);
  });

  test("invariant 6: stop ends a part that is being restarted", async () => {
    const { parts, supervisor } = fixture((name, part, count) => {
      if (name !== "oms" || count === 1) part.say({ type: "ready", addresses: {} });
    });
    await supervisor.start();
    const first = parts.get("oms");
    first?.end({ code: 1, signal: null });
    await until(() => parts.get("oms") !== first);
    await supervisor.stop();
    expect(parts.get("oms")?.stopRequested()).toBe(true);
  });

  test("invariant 6: a part that hangs is killed when its share is over, and the others still get theirs", async () => {
    let nowUs = 1_000_000;
    const { parts, supervisor } = fixture(undefined, { now: () => nowUs as Instant });
    await supervisor.start();
    const shares: number[] = [];
    for (const part of parts.values()) {
      // Each uses up all it is given, as one that hangs until it is killed does.
      part.stop = async (graceMs) => {
        shares.push(Math.round(graceMs));
        nowUs += graceMs * 1_000;
        part.end({ code: null, signal: "SIGKILL" });
        return part.exited;
      };
    }
    await supervisor.stop();
    expect(shares).toEqual([17, 17, 17]);
  });

  const withBots: readonly PartPlan[] = [...plans, { name: "bots", needs: ["gateway"], onRequest: true }];

  test("invariant 7: a part on request starts when it is asked for, once, is kept up, and ends when it is not wanted", async () => {
    const { trace, parts, supervisor } = fixture(undefined, systemClock(), withBots);
    await supervisor.start();
    expect(trace).not.toContain("spawn bots");
    expect(supervisor.parts().map(({ name }) => name)).not.toContain("bots");
    await supervisor.keep("bots", true);
    await supervisor.keep("bots", true);
    await until(() => supervisor.parts().some(({ name, ready }) => name === "bots" && ready));
    const first = parts.get("bots");
    first?.end({ code: null, signal: "SIGKILL" });
    await until(
      () => parts.get("bots") !== first && supervisor.parts().some(({ name, ready }) => name === "bots" && ready),
    );
    await supervisor.keep("bots", false);
    await until(() => !supervisor.parts().some(({ name }) => name === "bots"));
    await supervisor.keep("bots", true);
    await until(() => trace.filter((line) => line === "spawn bots").length === 3);
    await supervisor.stop();
    expect(parts.get("bots")?.stopRequested()).toBe(true);
    await expect(supervisor.keep("oms", false)).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("invariant 7: one that cannot start ends nobody, and is tried again", async () => {
    const { trace, supervisor } = fixture(
      (name, part, count) => {
        if (name === "bots" && count < 3) part.end({ code: 1, signal: null });
        else part.say({ type: "ready", addresses: {} });
      },
      systemClock(),
      withBots,
    );
    await supervisor.start();
    await supervisor.keep("bots", true);
    await until(() => supervisor.parts().some(({ name, ready }) => name === "bots" && ready));
    expect(trace.filter((line) => line === "spawn bots")).toHaveLength(3);
    expect(supervisor.parts()).toHaveLength(4);
    await supervisor.stop();
  });

  test("a circle of needs is refused", () => {
    expect(() =>
      inStartOrder([
        { name: "a", needs: ["b"] },
        { name: "b", needs: ["a"] },
      ]),
    ).toThrow(/circle: a, b/);
  });

  test("needs outside the subset are somebody else's business", () => {
    expect(inStartOrder([{ name: "oms", needs: ["riskengine"] }]).map((plan) => plan.name)).toEqual(["oms"]);
  });
});

// The system adapters keep their promises: time does not run backwards, waits wait, random bytes differ, a defect ends the process.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { Defect } from "../../contracts/src/fault.ts";
import type { Log } from "../../ports/log.ts";
import { systemClock } from "./clock.ts";
import { defectExitCode, processCrash } from "./process-crash.ts";
import { systemRandom } from "./random.ts";
import { systemTimers } from "./timers.ts";

function run(program: string, file: string) {
  const module = JSON.stringify(fileURLToPath(new URL(file, import.meta.url)));
  return spawnSync(
    process.execPath,
    ["--import", "tsx", "--input-type=module", "-e", program.replace("MODULE", module)],
    {
      encoding: "utf8",
      timeout: 20_000,
    },
  );
}

describe("systemClock", () => {
  it("stays within the operating system's millisecond, finer than it, never backwards (promise 1)", () => {
    const clock = systemClock();
    const seen = new Set<number>();
    let last = 0;
    for (let turn = 0; turn < 50_000; turn += 1) {
      const before = Date.now() * 1_000;
      const now = clock.now();
      const after = Date.now() * 1_000 + 999;
      expect(Number.isSafeInteger(now) && now >= before && now <= after && now >= last).toBe(true);
      last = now;
      seen.add(now % 1_000);
    }
    expect(seen.size).toBeGreaterThan(50);
  });

  it("holds still over a small step back and follows a big one (promise 2)", () => {
    let wallMs = 1_000_000;
    let monotonicMs = 5;
    const clock = systemClock({ wallMs: () => wallMs, monotonicMs: () => monotonicMs });
    const advance = (ms: number): void => {
      wallMs += ms;
      monotonicMs += ms;
    };
    expect(clock.now()).toBe(1_000_000_000);
    monotonicMs += 0.25;
    expect(clock.now()).toBe(1_000_000_250);
    advance(10);
    const before = clock.now();
    wallMs -= 400;
    expect(clock.now()).toBe(before);
    advance(300);
    expect(clock.now()).toBe(before);
    advance(200);
    expect(clock.now()).toBeGreaterThan(before);
    wallMs -= 3_600_000;
    expect(before - clock.now()).toBeGreaterThan(3_500_000_000);
    wallMs += 7_200_000;
    expect(Math.floor(clock.now() / 1_000)).toBe(wallMs);
  });
});

describe("systemTimers", () => {
  it("sleeps, and wakes at once when the signal aborts, leaving nothing behind", async () => {
    const timers = systemTimers();
    const startedAt = performance.now();
    await timers.sleep(30);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(28);
    const stop = new AbortController();
    const long = timers.sleep(60_000, stop.signal);
    expect(timers.pendingCount()).toBe(1);
    stop.abort();
    await long;
    await timers.sleep(60_000, stop.signal);
    expect(timers.pendingCount()).toBe(0);
  });

  it("runs once unless cancelled, and waits longer than 2^31 milliseconds instead of firing at once", async () => {
    const timers = systemTimers();
    const seen: string[] = [];
    const cancel = timers.after(5, () => seen.push("cancelled"));
    const cancelLong = timers.after(2 ** 40, () => seen.push("long"));
    timers.after(-5, () => seen.push("ran"));
    timers.after(Number.NaN, () => seen.push("ran"));
    cancel();
    await timers.sleep(40);
    cancelLong();
    expect(seen).toEqual(["ran", "ran"]);
    expect(timers.pendingCount()).toBe(0);
  });

  it("keeps the process alive until released, and not afterwards", () => {
    const waits = run(
      `import { systemTimers } from MODULE;
       const timers = systemTimers(); timers.after(300, () => console.log("fired"));`,
      "./timers.ts",
    );
    expect(waits.stdout).toBe("fired\n");
    const ends = run(
      `import { systemTimers } from MODULE;
       const timers = systemTimers();
       timers.after(60_000, () => {}); timers.release(); timers.after(60_000, () => {});`,
      "./timers.ts",
    );
    expect(ends.status).toBe(0);
  });
});

describe("systemRandom", () => {
  it("gives different bytes each time", () => {
    const random = systemRandom();
    expect(random.bytes(16)).toHaveLength(16);
    expect(Buffer.from(random.bytes(16))).not.toEqual(Buffer.from(random.bytes(16)));
    expect(random.bytes(16).buffer.byteLength).toBe(16);
    expect(random.uuid()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(random.uuid()).not.toBe(random.uuid());
  });
});

describe("processCrash", () => {
  const program = (body: string) => `import { processCrash, crashOnUnhandled } from MODULE;
    const said = (message, fields) => console.log(message, fields.error.message);
    const crash = processCrash({ error: said }); ${body}`;

  it("says what was wrong and ends with its own code, also for what nobody caught", () => {
    const bodies = [
      `crash.die(new Error("we were wrong")); console.log("went on");`,
      `crashOnUnhandled(crash); setTimeout(() => { throw new Error("we were wrong"); }, 1);`,
      `crashOnUnhandled(crash); Promise.reject(new Error("we were wrong")); setTimeout(() => {}, 5_000);`,
    ];
    for (const body of bodies) {
      const result = run(program(body), "./process-crash.ts");
      expect(result.stdout).toBe("Defect: this process ends here. we were wrong\n");
      expect(result.status).toBe(defectExitCode);
    }
  });

  it("ends although the log is broken", () => {
    const broken = {
      error: () => {
        throw new Error("disk full");
      },
    } as unknown as Log;
    const exit = (code: number): never => {
      throw new Error(`exit ${code}`);
    };
    expect(() => processCrash(broken, { exit }).die(new Defect("x"))).toThrow("exit 70");
  });
});

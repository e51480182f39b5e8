// What the engine makes of how the audit log stands: late is judged by its own clock, broken at once, and both end by themselves.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { fromMicroseconds, plusMilliseconds } from "../../contracts/src/instant.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Engine } from "../../core/engine/engine.ts";
import type { StandingCondition } from "../../core/state/standing-condition.ts";
import type { AuditStanding } from "../../ports/audit-standing.ts";
import { testSettings } from "../../testkit/virtual/memory-platform.ts";
import { type ServiceFixture, serviceFixture } from "../../testkit/virtual/service-fixture.ts";
import type { Loop } from "../shared/loop.ts";
import { createAlarms } from "./alarms.ts";
import { watchAudit } from "./audit-watch.ts";

const settings = { ...testSettings, audit: { ...testSettings.audit, behindMaxMs: 30_000 } };
let fixture: ServiceFixture;
let watch: Loop;
let last: StandingCondition;

function engineThatNotes(): Engine {
  const setConditions: Engine["setConditions"] = (_source, [standing]) => {
    if (standing !== undefined) last = standing;
  };
  return { setConditions } as unknown as Engine;
}

const start = async (): Promise<void> => {
  const ports = fixture.portsOf("riskengine", { settings });
  const engine = engineThatNotes();
  watch = await watchAudit(ports, engine, createAlarms(ports));
};
const now = () => fixture.time.clock.now();
const isBlocked = (): boolean => now() >= (last.from ?? Number.NEGATIVE_INFINITY);
const pass = (ms: number) => fixture.time.timers.sleep(ms);
const report = (standing: Partial<AuditStanding> = {}): void => {
  fixture.tables.auditStanding.current = { writerEpoch: 1, through: now(), ...standing };
};
const alarms = (): readonly string[] =>
  fixture
    .reported(subjects.alarmRaised)
    .filter(({ code }) => code === "AUDIT_STOPS_NEW_RISK")
    .map(({ sentence }) => sentence);

beforeEach(() => {
  fixture = serviceFixture(223);
});
afterEach(async () => {
  await watch.stop();
  await fixture.close();
});

describe("22.3: no audit, no new risk", () => {
  test("a platform that has just begun has its time, and then nobody has kept the log", async () => {
    await start();
    await pass(29_000);
    expect(isBlocked()).toBe(false);
    await pass(1_500);
    expect(isBlocked()).toBe(true);
    expect(last.reason).toMatch(/^Nobody has kept the audit log since \S+Z, longer than 30 s$/);
    expect(alarms()).toHaveLength(1);
    expect(alarms()[0]).toContain("new risk is denied until");
    report();
    await pass(600);
    expect(isBlocked()).toBe(false);
    await pass(31_000);
    expect(isBlocked()).toBe(true);
    expect(alarms()).toHaveLength(2);
  });

  test("a short restart of operations denies nothing, a long one does, by the engine's own clock", async () => {
    report();
    await start();
    await pass(29_000);
    expect(isBlocked()).toBe(false);
    report();
    await pass(600);
    const until = last.from;
    expect(until).toBe(plusMilliseconds(fixture.tables.auditStanding.current?.through ?? fromMicroseconds(0), 30_000));
    await pass(30_000);
    expect(isBlocked()).toBe(true);
    expect(last.reason).toMatch(/^The audit log is behind the outbox since/);
  });

  test("what was reported long before the start counts as what it is", async () => {
    report({ through: fromMicroseconds(now() - 60_000_000) });
    await start();
    expect(isBlocked()).toBe(true);
  });

  test("broken blocks within a second and lifts with the next reading, and its reason is one sentence", async () => {
    report();
    await start();
    const since = now();
    report({ broken: { reason: "TRUNCATED at 5: expected 9 entries, found 5. A witness\nknows another.", since } });
    await pass(600);
    expect(isBlocked()).toBe(true);
    // 22.10: it is what `blocks list` shows.
    expect(last.since).toBe(since);
    expect(last.reason).toMatch(/^The audit log is broken since \S+Z \(TRUNCATED at 5: .*; A witness knows another\)$/);
    await pass(600);
    expect(alarms()).toHaveLength(1);
    report();
    await pass(600);
    expect(isBlocked()).toBe(false);
  });

  test("a store that does not answer makes the log late too", async () => {
    report();
    const ports = fixture.portsOf("riskengine", { settings });
    let fails = false;
    const store: typeof ports.store = {
      ...ports.store,
      transact: (name, work) => {
        if (fails && name === "riskengine.audit") return Promise.reject(new Error("out of reach"));
        return ports.store.transact(name, work);
      },
    };
    const engine = engineThatNotes();
    watch = await watchAudit({ ...ports, store }, engine, createAlarms(ports));
    fails = true;
    for (let second = 0; second < 31; second += 1) {
      report();
      await pass(1_000);
    }
    expect(isBlocked()).toBe(true);
    expect(alarms()).toHaveLength(1);
  });
});

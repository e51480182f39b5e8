// Restrictions in the engine: in force soon after they are opened, gone soon after they end, and new risk is denied while nobody can read them.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { NewRestriction } from "../../contracts/src/records/restriction.ts";
import type { Engine } from "../../core/engine/engine.ts";
import { engineFixture, orderOf, startOfDay } from "../../testkit/risk/engine-fixture.ts";
import { testSettings } from "../../testkit/virtual/memory-platform.ts";
import { type ServiceFixture, serviceFixture } from "../../testkit/virtual/service-fixture.ts";
import { type RestrictionWatch, watchRestrictions } from "./restriction-watch.ts";

const unknownMs = testSettings.risk.haltUnknownMs;
let fixture: ServiceFixture;
let engine: Engine;
let watch: RestrictionWatch;
let isUnreadable = false;
let keys = 0;

const shadow: NewRestriction = {
  restrictionId: "r-1",
  kind: "SHADOW",
  fundId: "alpha",
  strategyId: "trend",
  watchdog: "strategy_watchdog",
  episodeId: "e-1",
  since: startOfDay,
};
const pass = (ms: number) => fixture.time.timers.sleep(ms);
/** Judged as the service does: the watch is asked before the engine. The engine's own prices stand still. */
function codeOf(): string {
  watch.freshen(fixture.time.clock.now());
  keys += 1;
  return engine.check({ ...orderOf(`k-${keys}`, {}), dry_run: true }, startOfDay).code;
}

beforeEach(async () => {
  fixture = serviceFixture(25);
  engine = engineFixture();
  isUnreadable = false;
  const ports = fixture.portsOf("riskengine");
  const { store } = ports;
  const transact: typeof store.transact = (name, work) =>
    isUnreadable ? Promise.reject(new Error("permission denied")) : store.transact(name, work);
  watch = await watchRestrictions({ ...ports, store: { ...store, transact } }, engine);
});
afterEach(async () => {
  await watch.stop();
  await fixture.close();
});

const write = (restriction: NewRestriction): void => {
  fixture.tables.restrictions.set(restriction.restrictionId, restriction);
};

describe("25.4: restrictions in the engine", () => {
  test("are in force within a second of their opening, and gone within one of their end", async () => {
    expect(codeOf()).toBe("");
    write(shadow);
    await pass(1_000);
    expect(codeOf()).toBe("STRATEGY_SHADOWED");
    fixture.tables.restrictions.set("r-1", {
      ...shadow,
      ended: { at: shadow.since, by: "strategy_watchdog", reason: "" },
    });
    await pass(1_000);
    expect(codeOf()).toBe("");
  });

  test("are unknown when they could not be read for as long as makes halts unknown, and known with the next read", async () => {
    isUnreadable = true;
    await pass(unknownMs - 300);
    expect(codeOf()).toBe("");
    expect(watch.health().status).toBe("ok");
    await pass(600);
    expect(codeOf()).toBe("RESTRICTIONS_UNKNOWN");
    expect(watch.health()).toMatchObject({ status: "failing" });
    isUnreadable = false;
    await pass(1_000);
    expect(codeOf()).toBe("");
    expect(watch.health().status).toBe("ok");
  });

  test("stay as they were while they cannot be read", async () => {
    write(shadow);
    await pass(1_000);
    isUnreadable = true;
    await pass(1_000);
    expect(codeOf()).toBe("STRATEGY_SHADOWED");
  });
});

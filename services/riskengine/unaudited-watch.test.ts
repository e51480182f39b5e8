// What the engine makes of changes that nobody audited: new risk is denied within a second, until there is none; and while nobody can tell.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Engine } from "../../core/engine/engine.ts";
import type { StandingCondition } from "../../core/state/standing-condition.ts";
import type { UnauditedChange, UnauditedChanges } from "../../ports/unaudited-changes.ts";
import { type ServiceFixture, serviceFixture } from "../../testkit/virtual/service-fixture.ts";
import { createAlarms } from "./alarms.ts";
import { sentenceOf, type UnauditedWatch, watchUnaudited } from "./unaudited-watch.ts";

const lifted: UnauditedChange = { changeId: "c1", table: "halt", row: "h-1", found: "removed" };
const planted: UnauditedChange = { changeId: "c2", table: "identity_key", row: "k\n1", found: "added" };
let fixture: ServiceFixture;
let watch: UnauditedWatch;
let changes: readonly UnauditedChange[];
let isUnreadable: "rejects" | "hangs" | undefined;
let asked = 0;
let found: StandingCondition | undefined;

const source: UnauditedChanges = {
  list: async (countMax) => {
    asked += 1;
    if (isUnreadable === "rejects") throw new Error("permission denied");
    if (isUnreadable === "hangs") await new Promise(() => undefined);
    return changes.slice(0, countMax);
  },
  hasSigned: async () => false,
};
const pass = (ms: number) => fixture.time.timers.sleep(ms);
const alarms = (): readonly string[] =>
  fixture
    .reported(subjects.alarmRaised)
    .filter(({ code }) => code === "UNAUDITED_CHANGE_STOPS_NEW_RISK")
    .map(({ sentence }) => sentence);

beforeEach(async () => {
  fixture = serviceFixture(2_806);
  [changes, isUnreadable, found, asked] = [[], undefined, undefined, 0];
  const ports = { ...fixture.portsOf("riskengine"), unauditedChanges: source };
  const setConditions: Engine["setConditions"] = (_source, [standing]) => {
    found = standing;
  };
  const engine = { setConditions } as unknown as Engine;
  watch = await watchUnaudited(ports, engine, createAlarms(ports));
});
afterEach(async () => {
  isUnreadable = undefined;
  await watch.stop();
  await fixture.close();
});

describe("28.6: a change that nobody audited", () => {
  test("denies new risk within a second, alarms once, is said by health, and ends when it is undone", async () => {
    expect([found, watch.health()]).toEqual([undefined, { status: "ok" }]);
    changes = [lifted];
    await pass(900);
    const since = found?.since;
    expect(found?.reason).toBe("A change has no event: h-1 of halt was removed");
    expect(watch.health()).toEqual({ status: "ok", complaint: "A change has no event: h-1 of halt was removed." });
    await pass(5_000);
    expect(found?.since).toBe(since);
    expect(alarms()).toHaveLength(1);
    expect(alarms()[0]).toContain("accepted by an admin and a second person");
    changes = [];
    await pass(900);
    expect([found, watch.health()]).toEqual([undefined, { status: "ok" }]);
  });

  test("alarms again when another one comes beside it", async () => {
    changes = [lifted];
    await pass(900);
    changes = [lifted, planted];
    await pass(900);
    expect(alarms()).toHaveLength(2);
    expect(alarms()[1]).toContain("k 1 of identity_key was added");
  });

  test.each(["rejects", "hangs"] as const)("denies when reading %s for five seconds", async (how) => {
    isUnreadable = how;
    await pass(4_500);
    expect(found).toBeUndefined();
    await pass(2_000);
    expect(found?.reason).toBe("Whether a change was made without its event cannot be read");
    expect(alarms()).toHaveLength(1);
    // What hangs is not asked again beside itself.
    if (how === "hangs") expect(asked).toBe(2);
  });

  test("stays one while nobody can read, and many are said in one sentence", async () => {
    changes = [lifted];
    await pass(900);
    isUnreadable = "rejects";
    await pass(60_000);
    expect(found?.reason).toContain("h-1 of halt");
    expect(sentenceOf([lifted, lifted, lifted, lifted])).toMatch(/; and there are more$/);
  });
});

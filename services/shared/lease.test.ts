// A lease while its store is away, in virtual time.
import { expect, test } from "vitest";
import type { UnitOfWork } from "../../ports/store.ts";
import { serviceFixture } from "../../testkit/virtual/service-fixture.ts";
import { takeLease } from "./lease.ts";

test("a lease is kept while the store is away for three seconds, and is held anew after a longer time", async () => {
  const fixture = serviceFixture(4_401);
  const ports = fixture.portsOf("riskengine");
  let isAway = false;
  const transact: typeof ports.store.transact = async (name, work) => {
    if (isAway) throw new Error("the store is away");
    return ports.store.transact(name, work);
  };
  const pass = (ms: number) => fixture.time.timers.sleep(ms);
  const process = { host: "h", pid: 7 };
  const lease = await takeLease("riskengine", process, { ...ports, store: { ...ports.store, transact } });
  const alive = () =>
    ports.store.transact("look", ({ instances }: UnitOfWork) => instances.alive(fixture.time.clock.now()));
  await pass(10_500);
  const since = lease.heldSince();
  isAway = true;
  await pass(3_000);
  isAway = false;
  expect([lease.heldSince(), (await alive()).length]).toEqual([since, 1]);
  await pass(30_000);
  expect([lease.heldSince(), lease.health().status]).toEqual([since, "ok"]);
  isAway = true;
  await pass(50_000);
  isAway = false;
  expect([lease.heldSince(), lease.health().status]).toEqual([undefined, "failing"]);
  await pass(1_500);
  expect(lease.heldSince()).toBeGreaterThan(since ?? 0);
  expect((await alive()).map(({ incarnation }) => incarnation)).toEqual([lease.incarnation]);
  await lease.retire();
  await fixture.close();
});

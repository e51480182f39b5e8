// Two data folders on one database: one works, the other waits, and neither fights.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { fromMicroseconds, plusMilliseconds } from "../../contracts/src/instant.ts";
import type { Instance } from "../../ports/store.ts";
import { type ServiceFixture, serviceFixture } from "../../testkit/virtual/service-fixture.ts";
import { takeLease } from "./lease.ts";
import { incarnationIn, otherAtWork, type ProcessGroup, takenOverBy } from "./process-group.ts";
import type { Lease, ServiceName } from "./service.ts";
import { type StandByOptions, standBy, whoIsAtWork } from "./stand-by.ts";

const services = ["riskengine", "oms"];
const groupOf = (mark: string, startedAt: number): ProcessGroup => ({ mark, startedAt: fromMicroseconds(startedAt) });
const [first, second] = [groupOf("aaaa", 1_000), groupOf("bbbb", 2_000)];
let fixture: ServiceFixture;
let leases: Lease[];
let died: string[];

beforeEach(() => {
  fixture = serviceFixture(2_812);
  leases = [];
  died = [];
});
afterEach(async () => {
  for (const lease of leases) await lease.retire();
  await fixture.close();
});

/** A process that does this service's work; its lease is renewed until it is retired or killed. */
async function work(service: ServiceName, group: ProcessGroup): Promise<{ readonly kill: () => void }> {
  const ports = fixture.portsOf(service);
  const life = new AbortController();
  const timers: typeof ports.timers = {
    ...ports.timers,
    sleep: (ms, signal) => (life.signal.aborted ? new Promise(() => undefined) : ports.timers.sleep(ms, signal)),
  };
  const crash = {
    die: (defect: Error): never => {
      died.push(`${group.mark} ${service}: ${defect.message}`);
      life.abort();
      return undefined as never;
    },
  };
  const lease = await takeLease(service, { host: "h", pid: 7, group, services }, { ...ports, timers, crash });
  leases.push({ ...lease, retire: async () => undefined });
  return { kill: () => life.abort() };
}

const optionsOf = (group: ProcessGroup): StandByOptions => ({ ...fixture.portsOf("riskengine"), group, services });
const pass = (ms: number) => fixture.time.timers.sleep(ms);

/** Whether it has become free. */
function waitBeside(options: StandByOptions, holder: Instance): { readonly isFree: () => boolean } {
  let isFree = false;
  void standBy(options, holder)
    .untilFree(new AbortController().signal)
    .then(() => {
      isFree = true;
    });
  return { isFree: () => isFree };
}

describe("28.12: standing by", () => {
  test("nobody at work, or only our own folder's earlier process, lets us begin", async () => {
    expect(await whoIsAtWork(optionsOf(second))).toBeUndefined();
    await work("riskengine", groupOf("bbbb", 1));
    expect(await whoIsAtWork(optionsOf(second))).toBeUndefined();
  });

  test("waits while the other renews, and is free some seconds after it was killed", async () => {
    const other = await work("riskengine", first);
    const holder = await whoIsAtWork(optionsOf(second));
    expect(holder).toMatchObject({ service: "riskengine", host: "h", pid: 7 });
    const waiting = waitBeside(optionsOf(second), holder as Instance);
    await pass(60_000);
    expect(waiting.isFree()).toBe(false);
    other.kill();
    await pass(3_000);
    expect(waiting.isFree()).toBe(false);
    await pass(4_000);
    expect(waiting.isFree()).toBe(true);
  });

  test("waits for every service of the other folder, not for its own alone", async () => {
    const [engine, oms] = [await work("riskengine", first), await work("oms", first)];
    const holder = await whoIsAtWork(optionsOf(second));
    const waiting = waitBeside(optionsOf(second), holder as Instance);
    engine.kill();
    await pass(20_000);
    expect(waiting.isFree()).toBe(false);
    oms.kill();
    await pass(7_000);
    expect(waiting.isFree()).toBe(true);
  });

  test("a lease from a clock that ran ahead is over when nobody renews it", async () => {
    const options = optionsOf(second);
    const leaseUntil = plusMilliseconds(fixture.time.clock.now(), 3_600_000);
    const startedAt = fixture.time.clock.now();
    const incarnation = incarnationIn(first, "x");
    const row = { service: "oms", incarnation, host: "h", pid: 1, startedAt, leaseUntil };
    fixture.tables.instances.set(incarnation, row);
    const holder = await whoIsAtWork(options);
    expect(holder?.incarnation).toBe(incarnation);
    const waiting = waitBeside(options, holder as Instance);
    await pass(6_000);
    expect(waiting.isFree()).toBe(false);
    await pass(6_000);
    expect(waiting.isFree()).toBe(true);
  });

  test("a store that does not answer makes nothing free", async () => {
    const options = optionsOf(second);
    await work("oms", first);
    const holder = await whoIsAtWork(options);
    const away: StandByOptions["store"] = {
      ...options.store,
      transact: () => Promise.reject(new Error("out of reach")),
    };
    const waiting = waitBeside({ ...options, store: away }, holder as Instance);
    await pass(60_000);
    expect(waiting.isFree()).toBe(false);
  });

  test("of two at work the one whose supervisor started later stays, with every service, and the other ends", async () => {
    await work("riskengine", second);
    await work("oms", first);
    await pass(3_000);
    expect(died).toEqual([
      "aaaa oms: riskengine of another data folder (h, process 7) has taken over, so this oms ends",
    ]);
    await pass(20_000);
    expect(died).toHaveLength(1);
  });
});

test("the order of groups is total, and services that only others do are nobody's business", () => {
  const now = fromMicroseconds(5_000);
  const instanceOf = (group: ProcessGroup, service: string): Instance => ({
    service,
    incarnation: incarnationIn(group, "id"),
    host: "h",
    pid: 1,
    startedAt: now,
    leaseUntil: now,
  });
  const twin = groupOf("cccc", 2_000);
  for (const [one, other] of [
    [first, second],
    [second, twin],
    [first, twin],
  ] as const) {
    const [seenByOne, seenByOther] = [[instanceOf(other, "oms")], [instanceOf(one, "oms")]];
    expect(takenOverBy(seenByOne, services, one)).toBe(seenByOne[0]);
    expect(takenOverBy(seenByOther, services, other)).toBeUndefined();
  }
  expect(otherAtWork([instanceOf(first, "treasury")], services, second)).toBeUndefined();
  // Of an earlier version, which does not say whose it is: at work, and no reason to end.
  const plain = { ...instanceOf(first, "oms"), incarnation: "0f0e0d0c-0000-4000-8000-000000000000" };
  expect(otherAtWork([plain], services, second)).toBe(plain);
  expect(takenOverBy([plain], services, second)).toBeUndefined();
});

// The incarnation: after its end nothing it does has an effect, and its neighbours do not notice.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { conformanceSubjectByName, thingChanged } from "../conformance/subjects.ts";
import { memoryBus } from "../memory/bus.ts";
import { memoryStore } from "../memory/store.ts";
import { memoryTables } from "../memory/tables.ts";
import { IncarnationEnded, ignoreEndedIncarnations, incarnation } from "./incarnation.ts";
import { scheduler } from "./scheduler.ts";

function simulation(seed: number) {
  const time = scheduler({ seed });
  const tables = memoryTables();
  const start = (name: string) => {
    const process = tables.process(name);
    const random = time.prng.fork(name);
    const basic = { clock: time.clock, timers: time.timers, random };
    const store = memoryStore({ ...basic, process });
    const bus = memoryBus({ ...basic, process, subjectByName: conformanceSubjectByName });
    return incarnation(name, { ...basic, store, bus }, process.kill);
  };
  const numbers = () => tables.log.map((entry) => JSON.parse(new TextDecoder().decode(entry.bytes)).n as number);
  return { time, tables, start, numbers };
}

let restore: () => void;
beforeAll(() => {
  restore = ignoreEndedIncarnations();
});
afterAll(() => restore());

describe("incarnation", () => {
  it("1: lets nothing through after its end, neither new calls nor those under way", async () => {
    const { time, start, numbers } = simulation(1);
    const victim = start("victim");
    const neighbour = start("neighbour");
    const effects: string[] = [];
    const publish = (who: typeof victim, n: number) =>
      who.ports.store.transact("test", async (unit) => {
        await unit.events.publish(thingChanged, { key: "k", n });
        await who.ports.timers.sleep(5);
      });
    const loop = async () => {
      for (let n = 1; ; n += 1) {
        await publish(victim, n);
        effects.push(`${n}`);
      }
    };
    const looping = loop();
    await time.run({ untilMs: 12 });
    expect(numbers()).toEqual([1, 2]);
    victim.end();
    victim.end();
    await time.run({ untilMs: 1_000 });
    expect(effects).toEqual(["1", "2"]);
    expect(numbers()).toEqual([1, 2]);
    let settled = false;
    const settle = () => {
      settled = true;
    };
    for (const late of [looping, publish(victim, 9), victim.ports.store.health(), victim.ports.timers.sleep(1)]) {
      late.then(settle, settle);
    }
    await time.finish("the neighbour's work", publish(neighbour, 100));
    await time.run({});
    expect(settled).toBe(false);
    expect(numbers()).toEqual([1, 2, 100]);
    expect(() => victim.ports.clock.now()).toThrow(IncarnationEnded);
    expect(() => victim.ports.bus.health()).toThrow(IncarnationEnded);
    expect(neighbour.ports.bus.health()).toEqual({ connected: true });
  });

  it("2: fires no timer and runs no handler after its end, and its row locks are free", async () => {
    const { time, start } = simulation(2);
    const victim = start("victim");
    const neighbour = start("neighbour");
    const heard: string[] = [];
    for (const who of [victim, neighbour]) {
      await who.ports.bus.subscribe({ name: `test.${who.name}`, subjects: [thingChanged.name] }, async () => {
        heard.push(who.name);
      });
    }
    victim.ports.timers.after(10, () => heard.push("the victim's timer"));
    const holding = victim.ports.store.transact("test", async (unit) => {
      await unit.handled.firstTime("test", "event");
      await victim.ports.timers.sleep(1_000);
    });
    holding.catch((thrown: unknown) => heard.push(String(thrown)));
    await time.run({ untilMs: 5 });
    victim.end();
    const first = neighbour.ports.store.transact("test", async (unit) => {
      await unit.events.publish(thingChanged, { key: "k", n: 1 });
      return unit.handled.firstTime("test", "event");
    });
    expect(await time.finish("the neighbour's first time", first)).toBe(true);
    await time.run({});
    expect(heard).toEqual(["neighbour"]);
  });

  it("3: dies of a defect alone, and the code that called die does not go on", async () => {
    const { time, start } = simulation(3);
    const victim = start("victim");
    const neighbour = start("neighbour");
    let wentOn = false;
    const work = async () => {
      await victim.ports.timers.sleep(1);
      victim.ports.crash.die(new Error("planned"));
    };
    work()
      .then(() => {
        wentOn = true;
      })
      .catch((thrown: unknown) => victim.ports.crash.die(thrown as Error));
    await time.run({ untilMs: 10 });
    expect(wentOn).toBe(false);
    expect(victim.isAlive()).toBe(false);
    expect(neighbour.isAlive()).toBe(true);
  });

  it("passes answers, errors and subscriptions through unchanged while it lives", async () => {
    const { time, start } = simulation(4);
    const one = start("one");
    const failing = one.ports.store.transact("test", () => Promise.reject(new Error("planned")));
    await expect(time.finish("the failing work", failing)).rejects.toThrow("planned");
    const heard: unknown[] = [];
    const subscription = await one.ports.bus.subscribe(
      { name: "test.one", subjects: [thingChanged.name] },
      async (event) => {
        heard.push(event.payload);
      },
    );
    const published = one.ports.store.transact("test", (unit) =>
      unit.events.publish(thingChanged, { key: "k", n: 1, nested: { list: [1, { two: 2 }] } }),
    );
    expect(await time.finish("the work", published)).toMatch(/^[0-9a-f-]{36}$/);
    await time.run({});
    expect(heard).toEqual([{ key: "k", n: 1, nested: { list: [1, { two: 2 }] } }]);
    expect(subscription.handledCount()).toBe(1);
  });
});

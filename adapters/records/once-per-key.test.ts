// What a key promises, in virtual time: one effect, the first answer, and an honest word when nobody knows.
import { describe, expect, it, onTestFinished } from "vitest";
import { Fault } from "../../contracts/src/fault.ts";
import { plusMilliseconds } from "../../contracts/src/instant.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { memoryStore } from "../../testkit/memory/store.ts";
import { memoryTables } from "../../testkit/memory/tables.ts";
import { quietLog } from "../../testkit/quiet-log.ts";
import { scheduler } from "../../testkit/virtual/scheduler.ts";
import { answerBytesMax, type Ending, type Job, type KeyedWork, oncePerKey, placeOf } from "./once-per-key.ts";
import { unauditedChange } from "./state-changes.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const hourMs = 3_600_000;

function fixture() {
  const time = scheduler({ seed: 5 });
  const stop = time.pump();
  onTestFinished(() => stop());
  const tables = memoryTables();
  const effects: string[] = [];

  async function start(incarnation: string) {
    const process = tables.process("oms");
    const ports = { clock: time.clock, timers: time.timers, random: time.prng.fork(incarnation) };
    const store = memoryStore({ ...ports, process, unauditedChange });
    await store.transact("lease.register", async (unit) => {
      const until = plusMilliseconds(time.clock.now(), 5_000);
      const row = { service: "oms", incarnation, host: "h", pid: 1, startedAt: time.clock.now(), leaseUntil: until };
      await unit.instances.register(row);
      const at = "2026-11-15T09:30:00.000000Z";
      await unit.events.publish(subjects.serviceStarted, { service: "oms", incarnation, host: "h", pid: 1, at });
    });
    return { process, once: oncePerKey({ ...ports, store, log: quietLog, holder: () => incarnation }) };
  }

  /** Has its effect, waits, and ends so. */
  function job(name: string, ending: (answer: string) => Ending = keep, workMs = 50): Job<string> {
    return {
      work: async () => {
        effects.push(name);
        await time.timers.sleep(workMs);
        return `${name} done`;
      },
      ending,
      replay: (answer) => new TextDecoder().decode(answer),
    };
  }
  return { time, tables, start, job, effects };
}

const keep = (answer: string): Ending => ({ state: "kept", answer: bytes(answer) });
const work = (more: Partial<KeyedWork> = {}): KeyedWork => ({
  key: { caller: "c", place: "p", key: "k" },
  bodyHash: "aa",
  repeatable: false,
  ...more,
});

const codeOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => "answered",
    (thrown: unknown) => (thrown instanceof Fault ? thrown.code : String(thrown)),
  );

describe("a request under a key", () => {
  it("3: is done once, and gets the first answer again, for a day", async () => {
    const { time, start, job, effects } = fixture();
    const { once } = await start("one");
    expect(await once.once(work(), job("first"))).toEqual({ value: "first done", replayed: false });
    expect(await once.once(work(), job("second"))).toEqual({ value: "first done", replayed: true });
    await time.timers.sleep(23 * hourMs);
    expect(await once.once(work(), job("third"))).toMatchObject({ replayed: true });
    await time.timers.sleep(2 * hourMs);
    expect(await once.once(work(), job("next day"))).toEqual({ value: "next day done", replayed: false });
    expect(effects).toEqual(["first", "next day"]);
  });

  it("1: is refused with another body, and is another one of another caller or at another place", async () => {
    const { start, job, effects } = fixture();
    const { once } = await start("one");
    await once.once(work(), job("first"));
    expect(await codeOf(once.once(work({ bodyHash: "bb" }), job("other")))).toBe("IDEMPOTENCY_KEY_REUSED");
    await once.once(work({ key: { caller: "d", place: "p", key: "k" } }), job("another caller"));
    await once.once(work({ key: { caller: "c", place: "q", key: "k" } }), job("another place"));
    expect(effects).toEqual(["first", "another caller", "another place"]);
  });

  it("2: waits for the same one that runs, here or in another process, and says so when that takes long", async () => {
    const { start, job, effects } = fixture();
    const { once } = await start("one");
    const elsewhere = (await start("two")).once;
    const answers = await Promise.all([
      once.once(work(), job("a", keep, 500)),
      once.once(work(), job("b")),
      elsewhere.once(work(), job("c")),
    ]);
    expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(new Set(answers.map(({ value }) => value)).size).toBe(1);
    expect(effects).toHaveLength(1);
    const slow = work({ key: { caller: "c", place: "p", key: "slow" } });
    const running = once.once(slow, job("slow", keep, 60_000));
    expect(await codeOf(once.once(slow, job("impatient")))).toBe("IDEMPOTENCY_IN_PROGRESS");
    expect((await running).value).toBe("slow done");
    expect(effects).not.toContain("impatient");
  });

  it("3: whose answer is secret, or too large to keep, is not done again and names what was made", async () => {
    const { start, job, effects } = fixture();
    const { once } = await start("one");
    await once.once(
      work(),
      job("token", () => ({ state: "unkept", made: "t-17" })),
    );
    const again = once.once(work(), job("again"));
    await expect(again).rejects.toMatchObject({ code: "IDEMPOTENT_ANSWER_NOT_KEPT", facts: { id: "t-17" } });
    const large = work({ key: { caller: "c", place: "p", key: "large" } });
    await once.once(
      large,
      job("large", () => ({ state: "kept", answer: new Uint8Array(answerBytesMax + 1) })),
    );
    expect(await codeOf(once.once(large, job("again")))).toBe("IDEMPOTENT_ANSWER_NOT_KEPT");
    expect(effects).toEqual(["token", "large"]);
  });

  it("4: that a killed process left is done again when that comes to the same, and never otherwise", async () => {
    for (const repeatable of [true, false]) {
      const { time, start, job, effects } = fixture();
      const first = await start("one");
      const lost = first.once.once(work({ repeatable }), job("first", keep, 1_000));
      await time.timers.sleep(100);
      expect(effects).toEqual(["first"]);
      first.process.kill();
      void lost;
      const second = await start("two");
      const again = second.once.once(work({ repeatable }), job("second"));
      if (repeatable) expect(await again).toEqual({ value: "second done", replayed: false });
      else expect(await codeOf(again)).toBe("IDEMPOTENT_OUTCOME_UNKNOWN");
      expect(effects).toEqual(repeatable ? ["first", "second"] : ["first"]);
    }
  });

  it("4: that ended nobody knows how is done again for four minutes and not later, however often it is cut off", async () => {
    const { time, start, job, effects } = fixture();
    const { once } = await start("one");
    const unknown = (): Ending => ({ state: "unknown" });
    await once.once(work({ repeatable: true }), job("first", unknown));
    await time.timers.sleep(200_000);
    await once.once(work({ repeatable: true }), job("second", unknown));
    await time.timers.sleep(60_000);
    expect(await codeOf(once.once(work({ repeatable: true }), job("third")))).toBe("IDEMPOTENT_OUTCOME_UNKNOWN");
    expect(effects).toEqual(["first", "second"]);
  });

  it("5: that was not done leaves its key free, also for another body", async () => {
    const { start, job, effects } = fixture();
    const { once } = await start("one");
    await once.once(
      work(),
      job("refused", () => ({ state: "undone" })),
    );
    await once.once(work({ bodyHash: "bb" }), job("other"));
    expect(effects).toEqual(["refused", "other"]);
  });

  it("is answered when its answer cannot be kept, and is then not done again", async () => {
    const { start, job, effects } = fixture();
    const { once, process } = await start("one");
    const away = job("first");
    const answered = await once.once(work(), {
      ...away,
      work: async () => {
        const value = await away.work();
        process.setReachable(false);
        return value;
      },
    });
    expect(answered.value).toBe("first done");
    process.setReachable(true);
    expect(await codeOf(once.once(work(), job("second")))).toBe("IDEMPOTENT_OUTCOME_UNKNOWN");
    expect(effects).toEqual(["first"]);
  });

  it("is not done while the store of keys is away", async () => {
    const { start, job, effects } = fixture();
    const { once, process } = await start("one");
    process.setReachable(false);
    expect(await codeOf(once.once(work(), job("first")))).toBe("STORE_UNAVAILABLE");
    process.setReachable(true);
    await once.once(work(), job("second"));
    expect(effects).toEqual(["second"]);
  });

  it("leaves no more rows than a day's: what ran out goes when others come", async () => {
    const { time, tables, start, job } = fixture();
    const { once } = await start("one");
    const keyed = (n: number) => work({ key: { caller: "c", place: "p", key: `k${n}` } });
    for (let n = 0; n < 20; n += 1) await once.once(keyed(n), job("x"));
    await time.timers.sleep(25 * hourMs);
    for (let n = 20; n < 23; n += 1) await once.once(keyed(n), job("x"));
    expect(tables.requestKeys.size).toBe(3);
  });
});

describe("what was done without waiting for its key", () => {
  it("is kept the first time, and the first answer is given for the same body alone", async () => {
    const { start } = fixture();
    const { once } = await start("one");
    expect(await once.remember(work(), bytes("first"))).toBeUndefined();
    expect(await once.remember(work(), bytes("second"))).toEqual(bytes("first"));
    expect(await once.remember(work({ bodyHash: "bb" }), bytes("other"))).toBeUndefined();
  });
});

it("a place of any length has a name that an index holds", () => {
  expect(placeOf("op", "/v1/a")).toBe("op /v1/a");
  expect(placeOf("op", `/v1/${"a".repeat(5_000)}`).length).toBeLessThan(100);
  expect(placeOf("op", `/v1/${"a".repeat(5_000)}`)).not.toBe(placeOf("op", `/v1/${"a".repeat(5_001)}`));
});

// Checks of promises 1 and 2: what was committed arrives, as bytes that were encoded and decoded, nothing else arrives,
// and what arrives again after a crash can be recognised by its id.
import { expect } from "vitest";
import { leftOut } from "../../contracts/src/subjects.ts";
import type { BusEvent } from "../../ports/bus.ts";
import type { BusCheck } from "./bus-fixture.ts";
import { publish, publishMany, range, record, thingOf } from "./bus-kit.ts";
import { appleGreen, appleRed, appleRedDark, conformanceRoot, pearRed, type Thing, thingChanged } from "./subjects.ts";
import { eventually, gate, rejection, stays } from "./waiting.ts";

export const resumes: BusCheck = {
  promise: 1,
  sentence: "a durable subscription resumes where it stopped, also after the bus was closed and opened again",
  async run(fixture) {
    const first = await record(fixture.bus, { name: "conformance.resumes" });
    const ids = await publishMany(fixture.store, "k", 1, 5);
    await eventually(
      fixture,
      "the first five events",
      () => first.events.length >= 5,
      () => first.numbers(),
    );
    const bus = await fixture.reopenBus();
    ids.push(...(await publishMany(fixture.store, "k", 6, 8)));
    const second = await record(bus, { name: "conformance.resumes" });
    ids.push(...(await publishMany(fixture.store, "k", 9, 10)));
    await eventually(
      fixture,
      "the last five events",
      () => second.events.length >= 5,
      () => second.numbers(),
    );
    await stays(fixture, () => [first.numbers(), second.numbers()], [range(1, 5), range(6, 10)]);
    expect([...first.ids(), ...second.ids()]).toEqual(ids);
    expect(second.subscription.handledCount()).toBe(5);
  },
};

export const beginsWithTheOldest: BusCheck = {
  promise: 1,
  sentence: "a new durable subscription begins with the oldest event that is kept",
  async run(fixture) {
    await publishMany(fixture.store, "k", 1, 3);
    const early = await record(fixture.bus, { name: "conformance.early" });
    await eventually(fixture, "events from before the subscription", () => early.events.length >= 3);
    await publishMany(fixture.store, "k", 4, 4);
    const late = await record(fixture.bus, { name: "conformance.late" });
    await eventually(fixture, "all four events", () => late.events.length >= 4 && early.events.length >= 4);
    expect(early.numbers()).toEqual([1, 2, 3, 4]);
    expect(late.numbers()).toEqual([1, 2, 3, 4]);
  },
};

export const tellsTheEvent: BusCheck = {
  promise: 1,
  sentence: "an event carries its id, subject, key, time and source",
  async run(fixture) {
    const seen = await record(fixture.bus, { name: "conformance.envelope" });
    const id = await publish(fixture.store, { key: "the key", n: 1 });
    await eventually(fixture, "the event", () => seen.events.length >= 1);
    const [event] = seen.events;
    expect(event).toMatchObject({ id, subject: thingChanged.name, key: "the key", payload: { key: "the key", n: 1 } });
    expect(Number.isSafeInteger(event?.at)).toBe(true);
    expect(event?.source).not.toBe("");
  },
};

export const rolledBackStaysSilent: BusCheck = {
  promise: 1,
  sentence: "an event of a transaction that was rolled back is never delivered",
  async run(fixture) {
    const seen = await record(fixture.bus, { name: "conformance.rollback" });
    for (let n = 1; n <= 5; n += 1) {
      const failing = fixture.store.transact("conformance.rollback", async (unit) => {
        await unit.events.publish(thingChanged, { key: "k", n: -n });
        throw new Error("planned");
      });
      expect(await rejection(failing, "the failing work")).toMatchObject({ message: "planned" });
      await publish(fixture.store, { key: "k", n });
    }
    await eventually(fixture, "the committed events", () => seen.events.length >= 5);
    await stays(fixture, () => seen.numbers(), [1, 2, 3, 4, 5]);
  },
};

export const nothingBeforeTheCommit: BusCheck = {
  promise: 1,
  sentence: "nothing is delivered before its commit, and no handler runs inside the publisher's own stack",
  async run(fixture) {
    let publishing = false;
    let inside = 0;
    const seen = await record(fixture.bus, { name: "conformance.asynchronous" }, async () => {
      if (publishing) inside += 1;
    });
    const held = gate();
    const transaction = fixture.store.transact("conformance.held", async (unit) => {
      publishing = true;
      const written = unit.events.publish(thingChanged, { key: "k", n: 1 });
      publishing = false;
      await written;
      await held.opened;
    });
    await stays(fixture, () => seen.numbers(), []);
    held.open();
    await transaction;
    await eventually(fixture, "the event after its commit", () => seen.events.length >= 1);
    expect(inside).toBe(0);
  },
};

const awkward: Thing = {
  key: "schlüssel.*.> 鍵 '\"\\",
  n: 9_007_199_254_740_991,
  text: 'Grüße, 東京, 🚦👩‍👩‍👧, e\u0301, \u2028 \t\n "quoted" \\ %s $1 _ \'; --',
  nested: {
    decimal: "12345678901234567890.123456789012345678901234567890",
    small: 1e-7,
    list: [1, "2", null, true, { deep: [[[{ deeper: "" }]]] }],
    empty: {},
    "a key with . and *": false,
  },
};

export const wireEncoding: BusCheck = {
  promise: 1,
  sentence:
    "a payload is encoded and decoded: unicode, nesting, decimals and 300,000 characters survive, copies are apart",
  async run(fixture) {
    const vandal = await record(fixture.bus, { name: "conformance.vandal" }, async (event) => {
      const payload = event.payload as { n: number; nested?: { decimal?: string } };
      if (payload.nested !== undefined) payload.nested.decimal = "vandalised";
      payload.n = -1;
    });
    const honest = await record(fixture.bus, { name: "conformance.honest" });
    const mine: Thing = structuredClone(awkward);
    const transaction = fixture.store.transact("conformance.awkward", async (unit) => {
      await unit.events.publish(thingChanged, mine);
      mine.n = -2;
    });
    await transaction;
    mine.text = "changed after the commit";
    const large = "0123456789".repeat(30_000);
    await publish(fixture.store, { key: "large", n: 2, text: large });
    await eventually(fixture, "both events twice", () => honest.events.length >= 2 && vandal.events.length >= 2);
    // Two keys, so either may come first.
    const payloads = new Map(honest.events.map((event) => [event.key, event.payload]));
    expect(payloads.get(awkward.key)).toEqual(awkward);
    expect(payloads.get("large")).toEqual({ key: "large", n: 2, text: large });
  },
};

export const unknownKeysStayOut: BusCheck = {
  promise: 1,
  sentence:
    "a handler gets what the subject's schema knows of a payload, durably and while listening, and nothing else",
  async run(fixture) {
    const seen = await record(fixture.bus, { name: "conformance.checked" });
    const heard: unknown[] = [];
    await fixture.bus.listen(
      { subjects: [thingChanged.name], queueMax: 100, overflow: "drop-oldest" },
      async (event) => void heard.push(event.payload),
    );
    const payload = { key: "k", n: 1, nested: { extra: "inside is the payload's own" }, extra: "a newer publisher's" };
    await fixture.injectRaw({ subject: thingChanged.name, key: "k", payload });
    await eventually(fixture, "the event, twice", () => seen.events.length >= 1 && heard.length >= 1);
    const { extra: _unknown, ...known } = payload;
    expect(seen.events[0]?.payload).toEqual(known);
    expect(heard[0]).toEqual(known);
  },
};

export const wildcards: BusCheck = {
  promise: 1,
  sentence:
    "`*` stands for exactly one word, a closing `>` for one or more, a `!` leaves one name out, and overlapping patterns deliver once",
  async run(fixture) {
    const fruits = { red: appleRed, green: appleGreen, dark: appleRedDark, pear: pearRed };
    const matrix: readonly (readonly [patterns: readonly string[], heard: readonly (keyof typeof fruits)[]])[] = [
      [["apple.red"], ["red"]],
      [["*.red"], ["red", "pear"]],
      [["apple.*"], ["red", "green"]],
      [["apple.>"], ["red", "green", "dark"]],
      [["apple.red.>"], ["dark"]],
      [["*.*.*"], ["dark"]],
      [["*"], []],
      [["a_ple.red"], []],
      [[">"], ["red", "green", "dark", "pear"]],
      [
        ["*.red", "apple.>", "apple.red"],
        ["red", "green", "dark", "pear"],
      ],
      [
        ["pear.red", "apple.green"],
        ["green", "pear"],
      ],
      [
        ["apple.>", "!apple.red"],
        ["green", "dark"],
      ],
    ];
    const recorders = await Promise.all(
      matrix.map(([patterns], index) =>
        record(fixture.bus, {
          name: `conformance.wildcard-${index}`,
          subjects: patterns.map((pattern) =>
            pattern.startsWith("!")
              ? leftOut(`${conformanceRoot}.${pattern.slice(1)}`)
              : `${conformanceRoot}.${pattern}`,
          ),
        }),
      ),
    );
    const names = Object.keys(fruits) as (keyof typeof fruits)[];
    for (const name of names) await publish(fixture.store, { key: "k", n: 1, text: name }, fruits[name]);
    const heard = () => recorders.map((recorder) => recorder.events.map((event) => thingOf(event).text));
    const wanted = matrix.map(([, expected]) => [...expected]);
    const total = wanted.flat().length;
    await eventually(fixture, "every pattern's events", () => heard().flat().length >= total, heard);
    await stays(fixture, heard, wanted);
  },
};

export const sameIdAfterACrash: BusCheck = {
  promise: 2,
  sentence: "after a crash in the handler the event comes again with the same id, and `firstTime` lets it act once",
  async run(fixture) {
    const name = "conformance.deduplicated";
    const acted: string[] = [];
    const delivered: string[] = [];
    const act = (store: typeof fixture.store) => async (event: BusEvent) => {
      delivered.push(event.id);
      const first = await store.transact("conformance.act", (unit) => unit.handled.firstTime(name, event.id));
      if (first) acted.push(event.id);
    };
    const victim = await fixture.another();
    const victimActs = act(victim.store);
    const never = new Promise<void>(() => undefined);
    await victim.bus.subscribe({ name, subjects: [thingChanged.name] }, async (event) => {
      await victimActs(event);
      if (thingOf(event).n === 2) await never;
    });
    const ids = await publishMany(fixture.store, "k", 1, 3);
    await eventually(
      fixture,
      "the event to die in",
      () => acted.length === 2,
      () => acted,
    );
    await victim.die();
    await fixture.bus.subscribe({ name, subjects: [thingChanged.name] }, act(fixture.store));
    await eventually(
      fixture,
      "the third event",
      () => acted.length >= 3,
      () => acted,
    );
    expect(acted).toEqual(ids);
    expect(delivered.filter((id) => id === ids[1]).length).toBeGreaterThanOrEqual(2);
  },
};

export const notTwiceToOneRunning: BusCheck = {
  promise: 2,
  sentence: "an event that was handled is not handed to the same running subscription again",
  async run(fixture) {
    const seen = await record(fixture.bus, { name: "conformance.once" });
    await Promise.all(range(1, 40).map((n) => publish(fixture.store, { key: `k${n % 7}`, n })));
    await eventually(fixture, "forty events", () => seen.events.length >= 40);
    await stays(fixture, () => [...seen.numbers()].sort((a, b) => a - b), range(1, 40));
    expect(seen.subscription.handledCount()).toBe(40);
  },
};

export const forgets: BusCheck = {
  promise: 1,
  sentence: "a forgotten durable name begins anew, and forgetting a name that nobody knows is harmless",
  async run(fixture) {
    const first = await record(fixture.bus, { name: "conformance.forgotten" });
    await publishMany(fixture.store, "k", 1, 3);
    await eventually(fixture, "three events", () => first.events.length >= 3);
    await first.subscription.close();
    await fixture.bus.forget("conformance.forgotten");
    await fixture.bus.forget("conformance.nobody");
    const second = await record(fixture.bus, { name: "conformance.forgotten" });
    await eventually(fixture, "the same three events", () => second.events.length >= 3);
    expect(second.numbers()).toEqual([1, 2, 3]);
  },
};

export const deliveryChecks: readonly BusCheck[] = [
  resumes,
  beginsWithTheOldest,
  tellsTheEvent,
  rolledBackStaysSilent,
  nothingBeforeTheCommit,
  wireEncoding,
  unknownKeysStayOut,
  wildcards,
  forgets,
  sameIdAfterACrash,
  notTwiceToOneRunning,
];

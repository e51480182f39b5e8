// Checks of promises 1 to 3: all or nothing, and a lost answer can be asked about afterwards.
import { expect } from "vitest";
import { Defect, Fault } from "../../contracts/src/fault.ts";
import { fromMicroseconds, plusMilliseconds } from "../../contracts/src/instant.ts";
import type { EventWriter } from "../../ports/store.ts";
import { publish, range } from "./bus-kit.ts";
import type { StoreCheck, StoreFixture } from "./store-fixture.ts";
import { type Thing, thingChanged } from "./subjects.ts";
import { gate, rejection } from "./waiting.ts";

/** The `n` of every committed event, in commit order. */
export async function numbers(fixture: StoreFixture): Promise<number[]> {
  return (await fixture.committed()).map((event) => (event.payload as Thing).n);
}

export const commitIsVisible: StoreCheck = {
  promise: 1,
  sentence: "what a resolved transaction wrote is there, its events included, also after the store is opened again",
  async run(fixture) {
    const [answer, ids] = await fixture.store.transact("conformance.commit", async (unit) => {
      const first = await unit.events.publish(thingChanged, { key: "a", n: 1 });
      const second = await unit.events.publish(thingChanged, { key: "b", n: 2, text: "größer" });
      return ["the work's answer", [first, second]] as const;
    });
    expect(answer).toBe("the work's answer");
    expect(new Set(ids).size).toBe(2);
    const wanted = [
      { id: ids[0], subject: thingChanged.name, key: "a", payload: { key: "a", n: 1 } },
      { id: ids[1], subject: thingChanged.name, key: "b", payload: { key: "b", n: 2, text: "größer" } },
    ];
    expect(await fixture.committed()).toMatchObject(wanted);
    await fixture.reopen();
    expect(await fixture.committed()).toMatchObject(wanted);
  },
};

export const nothingBeforeTheCommit: StoreCheck = {
  promise: 1,
  sentence: "nobody sees an event before its transaction has committed",
  async run(fixture) {
    const held = gate();
    const published = gate();
    const transaction = fixture.store.transact("conformance.held", async (unit) => {
      await unit.events.publish(thingChanged, { key: "a", n: 1 });
      published.open();
      await held.opened;
    });
    await published.opened;
    expect(await numbers(fixture)).toEqual([]);
    held.open();
    await transaction;
    expect(await numbers(fixture)).toEqual([1]);
  },
};

export const workThatThrows: StoreCheck = {
  promise: 2,
  sentence: "when the work throws, its own error comes back and nothing of it remains",
  async run(fixture) {
    const planned = new Error("planned");
    const failing = fixture.store.transact("conformance.throw", async (unit) => {
      await unit.events.publish(thingChanged, { key: "a", n: 1 });
      await unit.handled.firstTime("conformance.subscription", "event-1");
      throw planned;
    });
    expect(await rejection(failing, "the failing work")).toBe(planned);
    const throwing = fixture.store.transact("conformance.throw-at-once", () => {
      throw planned;
    });
    expect(await rejection(throwing, "the work that throws before it has a promise")).toBe(planned);
    expect(await numbers(fixture)).toEqual([]);
    const first = await fixture.store.transact("conformance.look", (unit) =>
      unit.handled.firstTime("conformance.subscription", "event-1"),
    );
    expect(first).toBe(true);
  },
};

export const mismatchIsADefect: StoreCheck = {
  promise: 2,
  sentence: "a payload that does not match its subject's schema is a Defect, and nothing of the transaction remains",
  async run(fixture) {
    const wrong = { key: "a", n: "not a number" } as unknown as Thing;
    const failing = fixture.store.transact("conformance.mismatch", async (unit) => {
      await unit.events.publish(thingChanged, { key: "a", n: 1 });
      await unit.events.publish(thingChanged, wrong);
    });
    expect(await rejection(failing, "the mismatching payload")).toBeInstanceOf(Defect);
    expect(await numbers(fixture)).toEqual([]);
    await publish(fixture.store, { key: "a", n: 2 });
    expect(await numbers(fixture)).toEqual([2]);
  },
};

export const unitEndsWithItsTransaction: StoreCheck = {
  promise: 2,
  sentence: "a unit of work that outlived its transaction refuses to write",
  async run(fixture) {
    const leaked: EventWriter[] = [];
    await fixture.store.transact("conformance.leak", async (unit) => {
      leaked.push(unit.events);
    });
    const [events] = leaked;
    if (events === undefined) throw new Error("the work did not run");
    await rejection(events.publish(thingChanged, { key: "a", n: 1 }), "writing after the end");
    expect(await numbers(fixture)).toEqual([]);
  },
};

export const nestedIsItsOwn: StoreCheck = {
  promise: 2,
  sentence: "a transaction begun inside another's work is its own: it stays when the outer one is rolled back",
  async run(fixture) {
    const outer = fixture.store.transact("conformance.outer", async (unit) => {
      await unit.events.publish(thingChanged, { key: "outer", n: 1 });
      await publish(fixture.store, { key: "inner", n: 2 });
      throw new Error("planned");
    });
    await rejection(outer, "the outer transaction");
    expect(await numbers(fixture)).toEqual([2]);
  },
};

export const lostAnswers: StoreCheck = {
  promise: 3,
  sentence:
    "a lost answer to COMMIT is STORE_COMMIT_UNKNOWN, the work is not run again, and `outcomeOf` tells the truth",
  async run(fixture) {
    let runs = 0;
    await fixture.loseNextCommitAnswer("committed");
    const lost = fixture.store.transact("conformance.lost", async (unit) => {
      runs += 1;
      await unit.events.publish(thingChanged, { key: "lost", n: runs });
    });
    const fault = await rejection(lost, "the transaction whose answer was lost");
    expect(fault).toBeInstanceOf(Fault);
    expect(fault).toMatchObject({ code: "STORE_COMMIT_UNKNOWN" });
    const transaction = String((fault as Fault).facts["transaction"]);
    expect(await fixture.store.outcomeOf(transaction)).toBe("committed");
    const store = await fixture.reopen();
    expect(await store.outcomeOf(transaction)).toBe("committed");
    expect(runs).toBe(1);
    expect(await numbers(fixture)).toEqual([1]);
  },
};

export const lostAnswerOfNothing: StoreCheck = {
  promise: 3,
  sentence: "when the answer was lost and nothing was committed, `outcomeOf` says so and nothing appears later",
  async run(fixture) {
    await fixture.loseNextCommitAnswer("not committed");
    const lost = publish(fixture.store, { key: "lost", n: 1 });
    const fault = await rejection(lost, "the transaction whose answer was lost");
    expect(fault).toMatchObject({ code: "STORE_COMMIT_UNKNOWN" });
    expect(await fixture.store.outcomeOf(String((fault as Fault).facts["transaction"]))).toBe("not committed");
    await publish(fixture.store, { key: "after", n: 2 });
    expect(await numbers(fixture)).toEqual([2]);
  },
};

export const manyAtOnce: StoreCheck = {
  promise: 1,
  sentence: "a hundred transactions at once all commit, each with all of its events",
  async run(fixture) {
    await Promise.all(
      range(1, 100).map((n) =>
        fixture.store.transact("conformance.many", async (unit) => {
          await unit.events.publish(thingChanged, { key: `a${n}`, n });
          await unit.events.publish(thingChanged, { key: `b${n}`, n });
        }),
      ),
    );
    const seen = (await numbers(fixture)).sort((a, b) => a - b);
    expect(seen).toEqual(range(1, 100).flatMap((n) => [n, n]));
  },
};

export const largePayload: StoreCheck = {
  promise: 1,
  sentence: "a payload of 300,000 characters is kept to the last one",
  async run(fixture) {
    const text = "äöü0123456".repeat(30_000);
    await publish(fixture.store, { key: "large", n: 1, text });
    expect((await fixture.committed()).map((event) => event.payload)).toEqual([{ key: "large", n: 1, text }]);
  },
};

export const oneStatementIsWhole: StoreCheck = {
  promise: 6,
  sentence:
    "a work of one statement reads and writes like any other, and one that publishes is a Defect and heard of by nobody",
  async run(fixture) {
    const kind = { isOneStatement: true } as const;
    const at = fromMicroseconds(1_000_000);
    const instance = { service: "riskengine", incarnation: "one", host: "h", pid: 1, startedAt: at, leaseUntil: at };
    await fixture.store.transact("conformance.register", (unit) => unit.instances.register(instance));
    const until = plusMilliseconds(at, 5_000);
    const renew = (incarnation: string) =>
      fixture.store.transact("conformance.renew", (unit) => unit.instances.renew(incarnation, until), kind);
    expect([await renew("one"), await renew("another")]).toEqual([true, false]);
    const alive = await fixture.store.transact("conformance.alive", (unit) => unit.instances.alive(at), kind);
    expect(alive).toEqual([{ ...instance, leaseUntil: until }]);
    const publishing = fixture.store.transact(
      "conformance.publishing",
      (unit) => unit.events.publish(thingChanged, { key: "a", n: 1 }),
      kind,
    );
    expect(await rejection(publishing, "publishing as one statement")).toBeInstanceOf(Defect);
    expect(await numbers(fixture)).toEqual([]);
  },
};

export const transactionChecks: readonly StoreCheck[] = [
  oneStatementIsWhole,
  commitIsVisible,
  nothingBeforeTheCommit,
  workThatThrows,
  mismatchIsADefect,
  unitEndsWithItsTransaction,
  nestedIsItsOwn,
  lostAnswers,
  lostAnswerOfNothing,
  manyAtOnce,
  largePayload,
];

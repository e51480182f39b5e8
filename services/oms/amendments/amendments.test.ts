// An approval is spent once: keys that come again, in any order and across restarts, get their first outcome, and nothing goes back to the
// broker on an approval that an amendment has spent before.
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import * as decimal from "../../../contracts/src/decimal.ts";
import { Fault } from "../../../contracts/src/fault.ts";
import type { OrderStatus } from "../../../contracts/src/generated/svc/v1/platform.ts";
import { parse } from "../../../contracts/src/instant.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { DeniedAnswer } from "../../../ports/rpc.ts";
import { inputCount } from "../../../testkit/full-count.ts";
import { type OmsFixture as Fixture, type OmsLife, omsFixture, orderOf } from "../../../testkit/oms-fixture.ts";
import { ignoreEndedIncarnations } from "../../../testkit/virtual/incarnation.ts";

type Answer = OrderStatus & DeniedAnswer;
const fixtures: Fixture[] = [];
let undo: () => void = () => undefined;

async function fixtureOf(seed = 11): Promise<Fixture> {
  undo();
  undo = ignoreEndedIncarnations();
  const fixture = await omsFixture({ seed });
  fixtures.push(fixture);
  return fixture;
}

afterEach(async () => {
  for (const fixture of fixtures.splice(0)) await fixture.close();
  undo();
  undo = () => undefined;
});

const amend = (oms: OmsLife, key: string, quantity: string, more: object = {}) =>
  oms.call<Answer>("AmendOrder", { order_id: "o-1", idempotency_key: key, quantity, reason: "", ...more });

async function working(fixture: Fixture): Promise<OmsLife> {
  const oms = await fixture.start();
  await oms.call<OrderStatus>("SubmitOrder", orderOf("o-1"));
  return oms;
}

const atBroker = (fixture: Fixture): string =>
  decimal.format(fixture.broker.kept.get("o-1")?.order.quantity ?? decimal.zero);
const isMute = (question: string) => (question === "amend" || question === "order" ? ("before" as const) : undefined);

describe("23.1: an approval is spent once", () => {
  it("an earlier amendment's key is answered with its first outcome and sends nothing", async () => {
    const fixture = await fixtureOf();
    fixture.risk.validMs = 60_000;
    const oms = await working(fixture);
    await amend(oms, "k-1", "27");
    await amend(oms, "k-2", "10");
    const again = await amend(oms, "k-1", "27");
    expect(again).toMatchObject({ state: "WORKING", order: { quantity: "10" } });
    expect(again.reason).toMatch(/^Amended as asked at .*amended again/);
    expect(atBroker(fixture)).toBe("10");
    expect(fixture.risk.asked.length).toBe(3);
    expect((await fixture.order("o-1"))?.order.quantity).toBe("10");
  });

  it("22.2: one that was released is dropped, the order keeps its terms, and the next one passes", async () => {
    const fixture = await fixtureOf();
    fixture.risk.validMs = 60_000;
    const oms = await working(fixture);
    let lost = 1;
    fixture.risk.losesAnswer = () => {
      if (lost === 0) return false;
      lost -= 1;
      const through = parse(fixture.risk.decided.at(-1)?.valid_until ?? "");
      void fixture.outside.transact("release", async (unit) => {
        const stored = await unit.oms.lockOrder("o-1");
        if (stored !== undefined) await unit.oms.updateOrder({ ...stored, releasedThrough: through });
      });
      return true;
    };
    await amend(oms, "k-1", "27");
    await fixture.until("it is dropped", async () => (await fixture.order("o-1"))?.settledAmendments?.length === 1);
    expect((await fixture.order("o-1"))?.settledAmendments).toMatchObject([{ denial: { code: "APPROVAL_RELEASED" } }]);
    expect(fixture.reported(subjects.ordersUpdated).at(-1)).toMatchObject({ dropped_amendment_key: "k-1" });
    expect([atBroker(fixture), (await fixture.order("o-1"))?.order.quantity]).toEqual(["10", "10"]);
    await amend(oms, "k-2", "12");
    expect(atBroker(fixture)).toBe("12");
  });

  it("T5: the answer to one that is pending says nothing of one that was denied before it", async () => {
    const fixture = await fixtureOf();
    const oms = await working(fixture);
    fixture.risk.decide = () => "NOTIONAL_ABOVE_MAX";
    expect(await amend(oms, "k-1", "1000")).toMatchObject({ denial: { code: "ORDER_DENIED" } });
    expect((await fixture.order("o-1"))?.reason).toMatch(/^Not amended/);
    fixture.risk.decide = () => true;
    fixture.broker.silence = isMute;
    const pending = await amend(oms, "k-2", "20");
    expect(pending.reason).toBeUndefined();
    expect((await fixture.order("o-1"))?.reason).toBeUndefined();
  });

  it("also after a restart, and a denied one stays denied", async () => {
    const fixture = await fixtureOf();
    fixture.risk.validMs = 60_000;
    const first = await working(fixture);
    await amend(first, "k-1", "27");
    await amend(first, "k-2", "10");
    fixture.risk.decide = () => "NOTIONAL_ABOVE_MAX";
    const denied = await amend(first, "k-3", "1000");
    expect(denied).toMatchObject({ denial: { code: "ORDER_DENIED" } });
    first.kill();
    fixture.risk.decide = () => true;
    const second = await fixture.start();
    expect(await amend(second, "k-1", "27")).toMatchObject({ order: { quantity: "10" } });
    expect(await amend(second, "k-3", "1000")).toEqual(denied);
    expect(atBroker(fixture)).toBe("10");
  });

  it("a key counts for other terms as little as the order's own key, until its time has run out", async () => {
    const fixture = await fixtureOf();
    const oms = await working(fixture);
    await amend(oms, "k-1", "27");
    const conflict = { denial: { code: "ORDER_KEY_CONFLICT" } };
    expect(await amend(oms, "k-1", "28")).toMatchObject(conflict);
    expect(await amend(oms, orderOf("o-1").idempotency_key, "10")).toMatchObject(conflict);
    expect(atBroker(fixture)).toBe("27");
    await fixture.time.timers.sleep(361_000);
    expect(await amend(oms, "k-1", "28")).toMatchObject({ order: { quantity: "28" } });
  });

  it("terms that were in force already have an outcome too: they do not come back later", async () => {
    const fixture = await fixtureOf();
    const oms = await working(fixture);
    expect(await amend(oms, "k-1", "10")).toMatchObject({ order: { quantity: "10" } });
    await amend(oms, "k-2", "27");
    await amend(oms, "k-1", "10");
    expect(atBroker(fixture)).toBe("27");
  });

  it("a key that ended with its order says so", async () => {
    const fixture = await fixtureOf();
    const oms = await working(fixture);
    fixture.broker.silence = isMute;
    await amend(oms, "k-1", "27");
    fixture.broker.trade("o-1", "10", "230");
    await fixture.until("it is filled", async () => (await fixture.order("o-1"))?.state === "FILLED");
    fixture.broker.silence = () => undefined;
    expect(await amend(oms, "k-1", "27")).toMatchObject({ denial: { code: "ORDER_NOT_OPEN" } });
  });

  it("takes so many amendments in its time, and not one more", async () => {
    const fixture = await fixtureOf();
    const oms = await working(fixture);
    for (let n = 1; n <= 100; n += 1) await amend(oms, `k-${n}`, String(10 + n));
    expect(await amend(oms, "k-101", "9")).toMatchObject({ denial: { code: "ORDER_NOT_OPEN" } });
    expect(await amend(oms, "k-100", "110")).toMatchObject({ order: { quantity: "110" } });
    await fixture.time.timers.sleep(361_000);
    expect(await amend(oms, "k-101", "9")).toMatchObject({ order: { quantity: "9" } });
    expect((await fixture.order("o-1"))?.settledAmendments?.length).toBe(1);
  });
});

it("23.2: an undo is refused while an amendment is on its way, and nothing is answered with success and lost", async () => {
  const fixture = await fixtureOf();
  const oms = await working(fixture);
  fixture.broker.silence = isMute;
  await amend(oms, "k-1", "27");
  const undo = await amend(oms, "k-2", "10");
  expect(undo).toMatchObject({ denial: { code: "ORDER_NOT_OPEN" } });
  expect(undo.denial?.reason).toMatch(/is being amended: wait .* or cancel/);
  fixture.broker.silence = () => undefined;
  await fixture.until("it is settled", async () => (await fixture.order("o-1"))?.amendment === undefined);
  expect(await amend(oms, "k-2", "10")).toMatchObject({ order: { quantity: "10" } });
  expect(atBroker(fixture)).toBe("10");
});

describe("keys that repeat and come in any order", () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant("amend" as const), key: fc.integer({ min: 0, max: 5 }) }),
    fc.record({ kind: fc.constantFrom("mute", "heard", "restart", "wait") }),
  );

  it("never let an older approval follow a newer one", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 14 }),
        fc.integer({ min: 1, max: 1_000_000 }),
        async (steps, seed) => {
          const fixture = await fixtureOf(seed);
          const sent: number[] = [];
          const { amend: real } = fixture.broker;
          fixture.broker.amend = (id, terms) => {
            sent.push(Number(decimal.format(terms.quantity ?? decimal.zero)));
            return real(id, terms);
          };
          let oms = await working(fixture);
          for (const one of steps) {
            if (one.kind === "amend") await amend(oms, `k-${one.key}`, String(20 + one.key));
            else if (one.kind === "wait") await fixture.time.timers.sleep(3_000);
            else if (one.kind === "restart") {
              oms.kill();
              oms = await fixture.start();
            } else fixture.broker.silence = one.kind === "mute" ? isMute : () => undefined;
          }
          const asked = fixture.risk.decided.filter(({ approved }) => approved).map(({ decision_id: id }) => id);
          expect(new Set(asked).size).toBe(asked.length);
          // Each key has terms of its own, and each was approved at most once: what was sent follows the order of the approvals.
          const order = fixture.risk.asked.map(({ quantity }) => Number(quantity));
          const ranks = sent.map((quantity) => order.indexOf(quantity));
          expect(ranks).toEqual([...ranks].sort((a, b) => a - b));
          for (const done of fixtures.splice(0)) await done.close();
        },
      ),
      { numRuns: inputCount(40, 15), seed: 230_100 },
    );
  });
});

describe("23.11: an amendment that is dropped", () => {
  it("is reported by its key, whoever refused it, so that nothing is reserved for it any more", async () => {
    const fixture = await fixtureOf();
    const oms = await working(fixture);
    fixture.risk.decide = () => "NOTIONAL_ABOVE_MAX";
    await amend(oms, "k-1", "1000");
    expect(fixture.reported(subjects.ordersUpdated).at(-1)).toMatchObject({
      to: "WORKING",
      dropped_amendment_key: "k-1",
    });
    fixture.risk.decide = () => true;
    fixture.broker.amend = () =>
      Promise.reject(new Fault("INVALID_ARGUMENT", "The broker refuses.", { retry: "never" }));
    await amend(oms, "k-2", "12");
    expect(fixture.reported(subjects.ordersUpdated).at(-1)).toMatchObject({
      to: "WORKING",
      dropped_amendment_key: "k-2",
    });
    expect(
      fixture.reported(subjects.ordersUpdated).filter((reported) => reported.dropped_amendment_key !== undefined)
        .length,
    ).toBe(2);
  });
});

// 45.1: an order that a machine handed in is cancelled and amended by that machine, by people and by the platform itself, and by no other machine.
import { afterEach, describe, expect, it } from "vitest";
import type { OrderStatus } from "../../../contracts/src/generated/svc/v1/platform.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { Identity } from "../../../ports/identity.ts";
import type { DeniedAnswer } from "../../../ports/rpc.ts";
import { type OmsFixture, omsFixture, operator, orderOf, machine as research } from "../../../testkit/oms-fixture.ts";

const seed = 20_261_119;
const fixtures: OmsFixture[] = [];
afterEach(async () => {
  for (const fixture of fixtures.splice(0)) await fixture.close();
});

const machineOf = (name: string) => ({ kind: "service", actor: `service:${name}`, name }) as Identity;
const [desk, stranger] = [machineOf("desk"), machineOf("stranger")];

async function begin() {
  const fixture = await omsFixture({ seed });
  fixtures.push(fixture);
  const oms = await fixture.start();
  await oms.call<OrderStatus>("SubmitOrder", orderOf("o-1"), desk);
  const cancel = (who: Identity, order_id = "o-1") =>
    oms.call<OrderStatus & DeniedAnswer>("CancelOrder", { order_id, reason: "enough" }, who);
  const amend = (who: Identity, key: string) =>
    oms.call<OrderStatus & DeniedAnswer>(
      "AmendOrder",
      { order_id: "o-1", idempotency_key: key, quantity: "7", reason: "less" },
      who,
    );
  return { fixture, oms, cancel, amend };
}

describe(`whose an order of ours is, seed ${seed}`, () => {
  it("another machine neither cancels nor amends it: nothing moves, and each try is recorded", async () => {
    const { fixture, cancel, amend } = await begin();
    const asked = fixture.risk.asked.length;
    expect((await cancel(stranger)).denial.code).toBe("ORDER_NOT_YOURS");
    expect((await amend(stranger, "k-1")).denial.code).toBe("ORDER_NOT_YOURS");
    expect(await fixture.order("o-1")).toMatchObject({ state: "WORKING" });
    expect((await fixture.order("o-1"))?.cancelReason).toBeUndefined();
    expect(fixture.risk.asked.length).toBe(asked);
    const tries = fixture.reported(subjects.operatorAttempted);
    expect(tries.map(({ operator: who, verb, code }) => [who, verb, code])).toEqual([
      ["service:stranger", "CancelOrder", "ORDER_NOT_YOURS"],
      ["service:stranger", "AmendOrder", "ORDER_NOT_YOURS"],
    ]);
  });

  it("one alarm a source and minute tells of it, with a count and the ids", async () => {
    const { fixture, cancel } = await begin();
    for (let times = 0; times < 3; times += 1) await cancel(stranger);
    const told = () => fixture.reported(subjects.alarmRaised).filter(({ code }) => code === "ORDER_OF_ANOTHER");
    await fixture.until("it is told", () => told().length === 1);
    expect(told()[0]).toMatchObject({ service: "oms", facts: { about: "stranger" } });
    await fixture.time.timers.sleep(61_000);
    expect(told().map(({ sentence }) => sentence.match(/, (once|\d+ times) \((.*?)\)/)?.slice(1))).toEqual([
      ["once", "o-1"],
      ["2 times", "the first: o-1"],
    ]);
  });

  it("its own machine, people and the platform's services do, and who had its orders handed over", async () => {
    const { fixture, oms, cancel, amend } = await begin();
    expect(await amend(desk, "k-1")).toMatchObject({ order: { quantity: "7" } });
    for (const [id, who] of [
      ["o-2", operator],
      ["o-3", research],
    ] as const) {
      await oms.call<OrderStatus>("SubmitOrder", orderOf(id), desk);
      expect(await cancel(who, id), id).toMatchObject({ state: "CANCELLED" });
    }
    const given = { from: "desk", to: "stranger", at: fixture.time.clock.now() };
    const by = { actor: "operator:admin", reason: "a new token" };
    await fixture.outside.transact("hand over", (unit) => unit.foreign.handOver(given, by));
    expect((await cancel(desk)).denial.code).toBe("ORDER_NOT_YOURS");
    expect(await cancel(stranger)).toMatchObject({ state: "CANCELLED" });
  });

  it("what a person handed in is no machine's, whatever that is called", async () => {
    const { oms, cancel } = await begin();
    await oms.call<OrderStatus>("SubmitOrder", orderOf("o-4"), operator);
    for (const who of [desk, machineOf("operator:duty")]) {
      expect((await cancel(who, "o-4")).denial.code).toBe("ORDER_NOT_YOURS");
    }
    expect(await cancel(operator, "o-4")).toMatchObject({ state: "CANCELLED" });
  });

  it("another machine's key and body are a conflict that tells nothing of the order; its own, and people, get the order", async () => {
    const { oms } = await begin();
    const again = (who: Identity, more = {}) =>
      oms.call<OrderStatus & DeniedAnswer>("SubmitOrder", orderOf("o-1", more), who);
    const conflict = {
      denial: { code: "ORDER_KEY_CONFLICT", reason: "The key belongs to an order that another caller handed in." },
    };
    expect(await again(stranger)).toEqual(conflict);
    expect(await again(stranger, { quantity: "11" })).toEqual(conflict);
    const byName = await again(stranger, { idempotency_key: "its own" });
    expect(byName.denial).toEqual({
      code: "ORDER_KEY_CONFLICT",
      reason: "The order_id o-1 belongs to another order.",
    });
    for (const who of [desk, operator, research]) expect((await again(who)).order?.order_id).toBe("o-1");
  });

  it("an order that is not there is not found, whoever asks", async () => {
    const { cancel } = await begin();
    await expect(cancel(stranger, "nothing")).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});

// Orders belong to the source that asked for them, on the whole shell: what another one reports, confirms, releases or asks moves nothing, and somebody is told
// once a minute. Orders of before askers were kept go to the first source that reports on them.
import { describe, expect, it } from "vitest";
import { DecisionRecord } from "../../../contracts/src/generated/svc/v1/riskdesk.ts";
import type {
  Approval,
  Approvals,
  Exposures,
  ForeignPosition,
} from "../../../contracts/src/generated/svc/v1/riskengine.ts";
import { format } from "../../../contracts/src/instant.ts";
import type { Fill, OrderTransition } from "../../../contracts/src/records/order.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { DeniedAnswer } from "../../../ports/rpc.ts";
import {
  desk,
  type EngineLife,
  machineOf,
  operator,
  type RiskEngineFixture,
  riskEngineFixture,
} from "../../../testkit/risk/service-fixture.ts";

let seed = 45_100;
const liar = machineOf("liar");

async function begin(): Promise<[RiskEngineFixture, EngineLife]> {
  seed += 1;
  const fixture = await riskEngineFixture({ seed });
  const life = await fixture.start();
  await fixture.finish(life.check({ order_id: "theirs", quantity: "100" }, desk));
  return [fixture, life];
}

const stepOf = (fixture: RiskEngineFixture, differs: Partial<OrderTransition> = {}): OrderTransition => ({
  order_id: "theirs",
  fund_id: "alpha",
  strategy_id: "alpha-momentum",
  symbol: "AAPL",
  from: "ACCEPTED",
  to: "CANCELLED",
  filled_quantity: "0",
  remaining_quantity: "0",
  at: format(fixture.time.clock.now()),
  ...differs,
});
const fillOf = (fixture: RiskEngineFixture, differs: Partial<Fill> = {}): Fill => ({
  fill_id: "f-1",
  order_id: "theirs",
  fund_id: "alpha",
  strategy_id: "alpha-momentum",
  symbol: "AAPL",
  side: "BUY",
  quantity: "40",
  price: "232.5",
  filled_at: format(fixture.time.clock.now()),
  ...differs,
});

async function report(fixture: RiskEngineFixture, source: string, differs: Partial<OrderTransition> = {}) {
  await fixture.publishFor(source, subjects.ordersCancelled, stepOf(fixture, differs));
  await fixture.pass(200);
}
async function fill(fixture: RiskEngineFixture, source: string, differs: Partial<Fill> = {}) {
  await fixture.publishFor(source, subjects.fillsCreated, fillOf(fixture, differs));
  await fixture.pass(200);
}

async function line(fixture: RiskEngineFixture, life: EngineLife): Promise<readonly string[]> {
  const { lines } = (await fixture.finish(life.call("ListExposures", {}))) as Exposures;
  const found = lines.find(({ fund_id, symbol }) => fund_id === "alpha" && symbol === "AAPL");
  return [found?.quantity ?? "0", found?.pending_buy ?? "0"];
}
const alarmsOf = (fixture: RiskEngineFixture, wanted: string) =>
  fixture.published(subjects.alarmRaised).filter(({ code }) => code === wanted);
const refusals = (fixture: RiskEngineFixture) =>
  fixture.tables.parked.map(({ error }) => /EVENT_\w+/.exec(error)?.[0] ?? error);

describe("an order's states and fills", () => {
  it("come from its asker alone: another source's are refused and listed, use up their numbers, and move nothing", async () => {
    const [fixture, life] = await begin();
    await report(fixture, "liar", { sequence: 1 });
    await fill(fixture, "liar", { sequence: 1 });
    expect(await line(fixture, life)).toEqual(["0", "100"]);
    expect(refusals(fixture)).toEqual(["EVENT_ORDER_NOT_YOURS", "EVENT_ORDER_NOT_YOURS"]);
    expect(alarmsOf(fixture, "EVENT_REFUSED")).toEqual([]);
    const asked = { source: "liar", fund_id: "alpha" };
    const { positions } = (await fixture.finish(life.call("GetForeignPosition", asked, liar))) as ForeignPosition;
    expect(positions.map(({ last_sequence }) => last_sequence)).toEqual([1, 1, undefined]);
    await fill(fixture, "desk", { fill_id: "f-2" });
    expect(await line(fixture, life)).toEqual(["40", "60"]);
    await report(fixture, "desk");
    expect(await line(fixture, life)).toEqual(["40", "0"]);
    // Also of one that has ended, and after a restart: the journal knows who asked.
    await fill(fixture, "liar", { fill_id: "f-3" });
    await fixture.finish(life.service.stop());
    const next = await fixture.start();
    await fill(fixture, "liar", { fill_id: "f-4" });
    expect(await line(fixture, next)).toEqual(["40", "0"]);
    expect(refusals(fixture)).toHaveLength(4);
    await fill(fixture, "desk", { fill_id: "f-5", quantity: "1" });
    expect(await line(fixture, next)).toEqual(["41", "0"]);
  });

  it("of an order of our own order management come from nobody outside, a login of NATS included", async () => {
    const [fixture, life] = await begin();
    await fixture.finish(life.check({ order_id: "ours", quantity: "10" }));
    await report(fixture, "desk", { order_id: "ours" });
    await fixture.publishForeign(subjects.ordersCancelled, stepOf(fixture, { order_id: "ours" }));
    await fixture.pass(200);
    expect(await line(fixture, life)).toEqual(["0", "110"]);
    // A login that no token names speaks for each of the programs outside, as before.
    await fixture.publishForeign(subjects.ordersCancelled, stepOf(fixture));
    await fixture.pass(200);
    expect(await line(fixture, life)).toEqual(["0", "10"]);
  });

  it("are told once a minute and source, with how many there were and the first ten orders", async () => {
    const [fixture, life] = await begin();
    for (let n = 1; n <= 12; n += 1) await fixture.finish(life.check({ order_id: `o-${n}`, quantity: "1" }, desk));
    await report(fixture, "liar");
    for (let n = 1; n <= 12; n += 1) await report(fixture, "liar", { order_id: `o-${n}` });
    await report(fixture, "other");
    const told = () => alarmsOf(fixture, "ORDER_OF_ANOTHER").map(({ facts, sentence }) => [facts?.["about"], sentence]);
    expect(told()).toEqual([
      ["liar", expect.stringContaining("once (theirs)")],
      ["other", expect.stringContaining("once (theirs)")],
    ]);
    await fixture.pass(61_000);
    expect(told()).toHaveLength(3);
    expect(told()[2]).toEqual([
      "liar",
      expect.stringContaining("12 times (the first: o-1, o-2, o-3, o-4, o-5, o-6, o-7, o-8, o-9, o-10)"),
    ]);
    await fixture.pass(121_000);
    expect(told()).toHaveLength(3);
    await report(fixture, "liar");
    expect(told()).toHaveLength(4);
  });
});

describe("an approval", () => {
  it("is confirmed and released by its asker alone, and by people; another source hears ORDER_NOT_YOURS", async () => {
    const [fixture, life] = await begin();
    const call = (procedure: string, message: object, identity = liar) =>
      fixture.finish(life.call(procedure, message, identity)) as Promise<Approval & DeniedAnswer>;
    const release = { order_id: "theirs", reason: "not sent" };
    for (const [procedure, message] of [
      ["ConfirmSent", { order_id: "theirs" }],
      ["ReleaseApproval", release],
    ] as const) {
      expect((await call(procedure, message)).denial.code).toBe("ORDER_NOT_YOURS");
    }
    expect(await line(fixture, life)).toEqual(["0", "100"]);
    const attempts = fixture.published(subjects.operatorAttempted).filter(({ code }) => code === "ORDER_NOT_YOURS");
    expect(attempts.map(({ operator: by, verb }) => [by, verb])).toEqual([
      ["service:liar", "ConfirmSent"],
      ["service:liar", "ReleaseApproval"],
    ]);
    const denied = await fixture.finish(life.check({ order_id: "theirs", quantity: "90" }, liar));
    expect([denied.approved, denied.rejecting_gate, denied.code]).toEqual([false, "schema", "ORDER_NOT_YOURS"]);
    await fixture.pass(61_000);
    const told = alarmsOf(fixture, "ORDER_OF_ANOTHER");
    expect(told.map(({ sentence }) => sentence)).toEqual([
      expect.stringContaining("once"),
      expect.stringContaining("2 times"),
    ]);
    const listed = async (identity = liar) =>
      ((await call("ListApprovals", { unsent: false }, identity)) as unknown as Approvals).approvals.length;
    expect([await listed(), await listed(desk)]).toEqual([0, 0]);
    await fixture.finish(life.check({ order_id: "more", quantity: "1" }, desk));
    expect([await listed(), await listed(desk)]).toEqual([0, 1]);
    expect((await call("ConfirmSent", { order_id: "more" }, desk)).state).toBe("SENT");
    await fixture.finish(life.check({ order_id: "yet-more", quantity: "1" }, desk));
    expect((await call("ReleaseApproval", { ...release, order_id: "yet-more" }, operator)).state).toBe("RELEASED");
  });
});

describe("an order that was approved before askers were kept", () => {
  it("goes to the first source that reports on it, with an entry, and stays there over a restart", async () => {
    const [fixture, life] = await begin();
    await fixture.finish(life.service.stop());
    for (const row of fixture.tables.risk.journal) {
      if (row.kind !== "decision") continue;
      const record = DecisionRecord.decode(row.payload);
      Object.assign(row, { payload: DecisionRecord.encode({ ...record, asked_by: undefined }).finish() });
    }
    fixture.tables.risk.snapshots.splice(0);
    const next = await fixture.start();
    await fixture.publishForeign(subjects.ordersUpdated, stepOf(fixture, { to: "WORKING", remaining_quantity: "100" }));
    await fixture.pass(200);
    expect(fixture.published(subjects.ordersHandedOver)).toEqual([]);
    await fill(fixture, "desk");
    const handed = fixture.published(subjects.ordersHandedOver);
    expect(handed).toMatchObject([{ to: "desk", order_id: "theirs", given_by: "riskengine" }]);
    await report(fixture, "liar");
    expect(await line(fixture, next)).toEqual(["40", "60"]);
    expect((await fixture.finish(next.check({ order_id: "theirs", quantity: "90" }, liar))).code).toBe(
      "ORDER_NOT_YOURS",
    );
    await fixture.finish(next.service.stop());
    const last = await fixture.start();
    await report(fixture, "liar");
    expect(await line(fixture, last)).toEqual(["40", "60"]);
    await report(fixture, "desk");
    expect(await line(fixture, last)).toEqual(["40", "0"]);
    expect(fixture.published(subjects.ordersHandedOver)).toHaveLength(1);
  });
});

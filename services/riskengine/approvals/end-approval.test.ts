// 45.1: an order whose end nobody reports, or that works after it, on the whole shell: reserved again by date, freed by a later end or by an operator with the
// second factor, and the same after a restart. The numbers are those of end-approval.ts.
import { describe, expect, it } from "vitest";
import type { Approval, Exposures } from "../../../contracts/src/generated/svc/v1/riskengine.ts";
import { format, plusMilliseconds } from "../../../contracts/src/instant.ts";
import type { Fill, OrderTransition } from "../../../contracts/src/records/order.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { DeniedAnswer } from "../../../ports/rpc.ts";
import { giveProof } from "../../../testkit/memory/units/step-up.ts";
import {
  desk,
  type EngineLife,
  operator,
  type RiskEngineFixture,
  riskEngineFixture,
} from "../../../testkit/risk/service-fixture.ts";
import { endAction } from "./end-approval.ts";

let seed = 45_300;

async function begin(): Promise<[RiskEngineFixture, EngineLife]> {
  seed += 1;
  const fixture = await riskEngineFixture({ seed });
  const life = await fixture.start();
  await fixture.finish(life.check({ order_id: "theirs", quantity: "100" }, desk));
  return [fixture, life];
}

async function report(
  fixture: RiskEngineFixture,
  to: OrderTransition["to"],
  remaining: string,
  inMs = 0,
): Promise<void> {
  const step = {
    order_id: "theirs",
    fund_id: "alpha",
    strategy_id: "alpha-momentum",
    symbol: "AAPL",
    from: "ACCEPTED",
    to,
    filled_quantity: "0",
    remaining_quantity: remaining,
    at: format(plusMilliseconds(fixture.time.clock.now(), inMs)),
  } as const;
  await fixture.publishFor("desk", subjects.ordersUpdated, step);
  await fixture.pass(200);
}
async function fill(fixture: RiskEngineFixture, quantity: string): Promise<void> {
  const traded: Fill = {
    fill_id: `f-${quantity}`,
    order_id: "theirs",
    fund_id: "alpha",
    strategy_id: "alpha-momentum",
    symbol: "AAPL",
    side: "BUY",
    quantity,
    price: "232.5",
    filled_at: format(fixture.time.clock.now()),
  };
  await fixture.publishFor("desk", subjects.fillsCreated, traded);
  await fixture.pass(200);
}
async function line(fixture: RiskEngineFixture, life: EngineLife): Promise<readonly string[]> {
  const { lines } = (await fixture.finish(life.call("ListExposures", {}))) as Exposures;
  const found = lines.find(({ fund_id, symbol }) => fund_id === "alpha" && symbol === "AAPL");
  return [found?.quantity ?? "0", found?.pending_buy ?? "0"];
}
const alarmsOf = (fixture: RiskEngineFixture, wanted: string) =>
  fixture.published(subjects.alarmRaised).filter(({ code }) => code === wanted);
const end = (fixture: RiskEngineFixture, life: EngineLife, order_id: string, reason: string, proof?: string) =>
  fixture.finish(life.call("EndApproval", { order_id, reason, step_up_proof: proof ?? "" })) as Promise<
    Approval & DeniedAnswer
  >;
const proofFor = (fixture: RiskEngineFixture, orderId: string, reason: string) => {
  const shown = { identity: operator, named: endAction(orderId, reason), at: fixture.time.clock.now() };
  return giveProof(fixture.tables.stepUps, shown);
};

async function restarted(fixture: RiskEngineFixture, life: EngineLife): Promise<EngineLife> {
  await fixture.finish(life.service.stop());
  return fixture.start();
}

describe("an order that works after its reported end", () => {
  it("is reserved again and told, over restarts too, and freed by a later end", async () => {
    const [fixture, first] = await begin();
    await report(fixture, "CANCELLED", "0");
    expect(await line(fixture, first)).toEqual(["0", "0"]);
    let life = await restarted(fixture, first);
    await fixture.pass(6_000);
    await report(fixture, "WORKING", "60");
    expect(await line(fixture, life)).toEqual(["0", "60"]);
    expect(alarmsOf(fixture, "ORDER_WORKS_AFTER_END").map(({ facts }) => facts?.["about"])).toEqual(["theirs"]);
    life = await restarted(fixture, life);
    expect(await line(fixture, life)).toEqual(["0", "60"]);
    await report(fixture, "CANCELLED", "0");
    expect(await line(fixture, life)).toEqual(["0", "0"]);
    await fixture.pass(6_000);
    await fill(fixture, "10");
    expect(await line(fixture, life)).toEqual(["10", "90"]);
    life = await restarted(fixture, life);
    expect(await line(fixture, life)).toEqual(["10", "90"]);
  });
});

describe("EndApproval", () => {
  it("takes a reason and the second factor, frees what is reserved, and is told once", async () => {
    const [fixture, life] = await begin();
    await report(fixture, "WORKING", "100");
    expect(await end(fixture, life, "theirs", "")).toMatchObject({ denial: { code: "REASON_MISSING" } });
    expect(await end(fixture, life, "theirs", "gone")).toMatchObject({ denial: { code: "STEP_UP_REQUIRED" } });
    const other = proofFor(fixture, "theirs", "another reason");
    expect(await end(fixture, life, "theirs", "gone", other)).toHaveProperty("denial");
    expect(await line(fixture, life)).toEqual(["0", "100"]);
    const ended = await end(fixture, life, "theirs", "gone", proofFor(fixture, "theirs", "gone"));
    expect(ended).toMatchObject({ order_id: "theirs", state: "ENDED", reserved_quantity: "0" });
    expect(await line(fixture, life)).toEqual(["0", "0"]);
    expect(fixture.published(subjects.approvalEnded)).toMatchObject([
      { order_id: "theirs", released_quantity: "100", ended_by: operator.actor, reason: "gone" },
    ]);
    const next = await restarted(fixture, life);
    expect(await line(fixture, next)).toEqual(["0", "0"]);
    expect(fixture.published(subjects.approvalEnded)).toHaveLength(1);
    await expect(end(fixture, next, "theirs", "gone")).rejects.toMatchObject({ code: "NOT_FOUND" });
    // What shows later that it works is believed.
    await fixture.pass(6_000);
    await report(fixture, "WORKING", "100");
    expect(await line(fixture, next)).toEqual(["0", "100"]);
  });

  it("1: is refused for orders of our own order management, which cancels them", async () => {
    const [fixture, life] = await begin();
    await fixture.finish(life.check({ order_id: "ours", quantity: "10" }));
    const proof = proofFor(fixture, "ours", "gone");
    expect(await end(fixture, life, "ours", "gone", proof)).toMatchObject({ denial: { code: "ORDER_OURS" } });
    expect(await line(fixture, life)).toEqual(["0", "110"]);
  });

  it("also ends what a fill of a far date, or an end that tells of fills that never come, holds", async () => {
    const [fixture, life] = await begin();
    await fixture.publishFor("desk", subjects.ordersCancelled, {
      order_id: "theirs",
      fund_id: "alpha",
      strategy_id: "alpha-momentum",
      symbol: "AAPL",
      from: "WORKING",
      to: "CANCELLED",
      filled_quantity: "30",
      remaining_quantity: "0",
      at: format(fixture.time.clock.now()),
    });
    await fixture.pass(200);
    expect(await line(fixture, life)).toEqual(["0", "30"]);
    await end(fixture, life, "theirs", "gone", proofFor(fixture, "theirs", "gone"));
    expect(await line(fixture, life)).toEqual(["0", "0"]);
  });

  it("2: moves the books once, and is written when it is asked again after the journal did not take it", async () => {
    const [fixture, life] = await begin();
    await report(fixture, "WORKING", "100");
    fixture.fates.set("risk.append", ["failed"]);
    const first = end(fixture, life, "theirs", "gone", proofFor(fixture, "theirs", "gone"));
    await expect(first).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(fixture.published(subjects.approvalEnded)).toEqual([]);
    await end(fixture, life, "theirs", "gone", proofFor(fixture, "theirs", "gone"));
    expect(fixture.published(subjects.approvalEnded)).toHaveLength(1);
    expect(await line(fixture, await restarted(fixture, life))).toEqual(["0", "0"]);
  });
});

// 45.1: an admin hands orders from one source to another, with a reason and the second factor: from then on the new one speaks of them and the old one does not,
// also after a restart. The numbers are those of hand-over.ts.
import { describe, expect, it } from "vitest";
import type { Approvals, Exposures, HandedOver } from "../../../contracts/src/generated/svc/v1/riskengine.ts";
import { format } from "../../../contracts/src/instant.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { DeniedAnswer } from "../../../ports/rpc.ts";
import { giveProof } from "../../../testkit/memory/units/step-up.ts";
import {
  operator as admin,
  desk,
  type EngineLife,
  machineOf,
  type RiskEngineFixture,
  riskEngineFixture,
} from "../../../testkit/risk/service-fixture.ts";
import { handOverAction } from "./hand-over.ts";

let seed = 45_400;
const heir = machineOf("desk-2");
const request = { from: "desk", to: "desk-2", reason: "a new token" };
type Asked = typeof request & { readonly order_id?: string };

async function begin(): Promise<[RiskEngineFixture, EngineLife]> {
  seed += 1;
  const fixture = await riskEngineFixture({ seed });
  const life = await fixture.start();
  for (const order_id of ["o-1", "o-2"]) await fixture.finish(life.check({ order_id, quantity: "10" }, desk));
  return [fixture, life];
}

const handOver = (fixture: RiskEngineFixture, life: EngineLife, asked: Asked, isProved = true) => {
  const at = fixture.time.clock.now();
  const proof = isProved
    ? giveProof(fixture.tables.stepUps, { identity: admin, named: handOverAction(asked), at })
    : "";
  const call = life.call("HandOverSource", { ...asked, step_up_proof: proof }, admin);
  return fixture.finish(call) as Promise<HandedOver & DeniedAnswer>;
};

async function cancel(fixture: RiskEngineFixture, source: string, order_id: string): Promise<void> {
  await fixture.publishFor(source, subjects.ordersCancelled, {
    order_id,
    fund_id: "alpha",
    strategy_id: "alpha-momentum",
    symbol: "AAPL",
    from: "WORKING",
    to: "CANCELLED",
    filled_quantity: "0",
    remaining_quantity: "0",
    at: format(fixture.time.clock.now()),
  });
  await fixture.pass(200);
}
async function pending(fixture: RiskEngineFixture, life: EngineLife): Promise<string> {
  const { lines } = (await fixture.finish(life.call("ListExposures", {}))) as Exposures;
  return lines.find(({ fund_id, symbol }) => fund_id === "alpha" && symbol === "AAPL")?.pending_buy ?? "0";
}
const listed = async (fixture: RiskEngineFixture, life: EngineLife, identity = heir) =>
  ((await fixture.finish(life.call("ListApprovals", { unsent: false }, identity))) as Approvals).approvals;

describe("HandOverSource", () => {
  it("2: gives everything that the old source asked for until then, and is told with the reason", async () => {
    const [fixture, life] = await begin();
    await fixture.pass(1_000);
    expect(await handOver(fixture, life, request)).toMatchObject({ from: "desk", to: "desk-2", open_orders: 2 });
    expect(fixture.published(subjects.ordersHandedOver)).toMatchObject([{ ...request, given_by: admin.actor }]);
    expect(fixture.published(subjects.operatorAttempted)).toMatchObject([{ verb: "HandOverSource", allowed: true }]);
    expect(await listed(fixture, life)).toMatchObject([
      { order_id: "o-1", asked_by: "service:desk", owned_by: "desk-2" },
      { order_id: "o-2", asked_by: "service:desk", owned_by: "desk-2" },
    ]);
    expect(await listed(fixture, life, desk)).toEqual([]);
    await cancel(fixture, "desk", "o-1");
    expect(await pending(fixture, life)).toBe("20");
    await cancel(fixture, "desk-2", "o-1");
    expect(await pending(fixture, life)).toBe("10");
    // What it asks for from now on is its own.
    await fixture.finish(life.check({ order_id: "o-3", quantity: "5" }, desk));
    await cancel(fixture, "desk", "o-3");
    await fixture.finish(life.service.stop());
    const next = await fixture.start();
    await cancel(fixture, "desk", "o-2");
    expect(await pending(fixture, next)).toBe("10");
    expect((await fixture.finish(next.check({ order_id: "o-2", quantity: "9" }, desk))).code).toBe("ORDER_NOT_YOURS");
    await cancel(fixture, "desk-2", "o-2");
    expect(await pending(fixture, next)).toBe("0");
  });

  it("gives one order, and only one that the old source has", async () => {
    const [fixture, life] = await begin();
    await handOver(fixture, life, { ...request, order_id: "o-1" });
    expect((await listed(fixture, life)).map(({ order_id }) => order_id)).toEqual(["o-1"]);
    const gone = handOver(fixture, life, { ...request, order_id: "o-1" });
    await expect(gone).rejects.toMatchObject({ code: "NOT_FOUND" });
    const nobodys = handOver(fixture, life, { ...request, order_id: "o-9" });
    await expect(nobodys).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  it("takes a reason and the second factor, and 3: no source of ours", async () => {
    const [fixture, life] = await begin();
    const denied = async (asked: Asked, isProved?: boolean) =>
      (await handOver(fixture, life, asked, isProved)).denial.code;
    expect(await denied({ ...request, reason: " " })).toBe("REASON_MISSING");
    expect(await denied(request, false)).toBe("STEP_UP_REQUIRED");
    for (const asked of [
      { ...request, to: "oms" },
      { ...request, from: "oms" },
      { ...request, to: "desk" },
    ]) {
      await expect(handOver(fixture, life, asked)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    }
    expect(fixture.published(subjects.ordersHandedOver)).toEqual([]);
    expect(await listed(fixture, life)).toEqual([]);
  });
});

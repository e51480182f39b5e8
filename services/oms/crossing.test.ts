// A cross between two strategies of a fund: one pair of fills for one id, at a fresh mark, from the positions that were read, through kills.
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import type { CrossPositionsRequest, Fills } from "../../contracts/src/generated/svc/v1/platform.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { DeniedAnswer } from "../../ports/rpc.ts";
import { type OmsFixture, type OmsLife, omsFixture, orderOf } from "../../testkit/oms-fixture.ts";
import { ignoreEndedIncarnations } from "../../testkit/virtual/incarnation.ts";

const seed = 23_003;
const fixtures: OmsFixture[] = [];
let restore: () => void = () => undefined;
beforeAll(() => {
  restore = ignoreEndedIncarnations();
});
afterAll(() => restore());
afterEach(async () => {
  for (const fixture of fixtures.splice(0)) await fixture.close();
});

const own = "alpha-momentum";
const other = "alpha-meanrev";
const request: CrossPositionsRequest = {
  cross_id: "stop-1-cross-1",
  fund_id: "alpha",
  symbol: "AAPL",
  strategy_id: own,
  other_strategy_id: other,
  from_quantity: "100",
  other_from_quantity: "-60",
  quantity: "60",
  reason: "test",
};

/** Long 100 of one strategy, short 60 of the other. */
async function opposed(): Promise<{ readonly fixture: OmsFixture; readonly oms: OmsLife }> {
  const fixture = await omsFixture({ seed });
  fixtures.push(fixture);
  const oms = await fixture.start();
  for (const [strategy_id, to] of [
    [own, "100"],
    [other, "-60"],
  ] as const) {
    await oms.call("AdjustPosition", {
      adjustment_id: `adjust-${strategy_id}`,
      fund_id: "alpha",
      strategy_id,
      symbol: "AAPL",
      from_quantity: "0",
      to_quantity: to,
      price: "200",
      broker: "paper",
      reason: "test",
    });
  }
  return { fixture, oms };
}
const mark = async (fixture: OmsFixture, price = "230"): Promise<void> => {
  fixture.mark("AAPL", price);
  await fixture.time.timers.sleep(10);
};
const cross = (oms: OmsLife, differs: Partial<CrossPositionsRequest> = {}) =>
  oms.call<Fills & Partial<DeniedAnswer>>("CrossPositions", { ...request, ...differs });
const held = async (fixture: OmsFixture) =>
  (await fixture.positions()).map(({ strategyId, quantity }) => [strategyId, decimal.format(quantity)]).sort();
const crosses = (fixture: OmsFixture) => fixture.reported(subjects.fillsCreated).filter(({ kind }) => kind === "CROSS");

describe("23.3: a cross", () => {
  it("is a pair of fills of the same quantity and price without a fee, at no broker, and the fund's net stays", async () => {
    const { fixture, oms } = await opposed();
    await mark(fixture);
    const { fills } = await cross(oms);
    expect(fills).toMatchObject([
      { fill_id: "stop-1-cross-1:1", strategy_id: own, side: "SELL", quantity: "60", price: "230", fee: "0" },
      { fill_id: "stop-1-cross-1:2", strategy_id: other, side: "BUY_TO_COVER", quantity: "60", price: "230", fee: "0" },
    ]);
    for (const fill of fills)
      expect(fill).toMatchObject({ kind: "CROSS", broker: "internal", order_id: "stop-1-cross-1" });
    expect(await held(fixture)).toEqual([
      [other, "0"],
      [own, "40"],
    ]);
    expect(crosses(fixture).map(({ fill_id }) => fill_id)).toEqual(["stop-1-cross-1:1", "stop-1-cross-1:2"]);
    expect(fixture.broker.arrivals.size).toBe(0);
  });

  it("is booked once, whatever is asked under its id again and whoever was killed in between", async () => {
    const { fixture, oms } = await opposed();
    await mark(fixture);
    for (let wait = 0; wait < 8; wait += 1) {
      const life = wait === 0 ? oms : await fixture.start();
      await mark(fixture);
      const asked = cross(life).catch(() => undefined);
      await fixture.time.timers.sleep(wait);
      life.kill();
      await Promise.race([asked, fixture.time.timers.sleep(50)]);
    }
    const last = await fixture.start();
    await mark(fixture, "240");
    await cross(last);
    const again = await cross(last, { quantity: "10", from_quantity: "40" });
    expect(again.fills.map(({ quantity }) => quantity)).toEqual(["60", "60"]);
    expect(crosses(fixture)).toHaveLength(2);
    expect(await held(fixture)).toEqual([
      [other, "0"],
      [own, "40"],
    ]);
  });

  it("is refused without a fresh mark, and when a position moved or an exit of its own closes it", async () => {
    const { fixture, oms } = await opposed();
    expect((await cross(oms)).denial?.code).toBe("CROSS_UNPRICED");
    await mark(fixture);
    await fixture.time.timers.sleep(11_000);
    expect((await cross(oms)).denial?.code).toBe("CROSS_UNPRICED");
    await mark(fixture);
    expect((await cross(oms, { from_quantity: "90" })).denial?.code).toBe("CROSS_OUTDATED");
    expect((await cross(oms, { other_from_quantity: "-61" })).denial?.code).toBe("CROSS_OUTDATED");
    const exit = { strategy_id: other, side: "BUY_TO_COVER", reduce_only: true, quantity: "10" } as const;
    await oms.call("SubmitOrder", orderOf("exit", exit));
    await mark(fixture);
    const { denial } = await cross(oms);
    expect(denial).toMatchObject({ code: "CROSS_OUTDATED" });
    expect(denial?.reason).toContain("of which its own exits close 10");
    expect(crosses(fixture)).toEqual([]);
    expect((await cross(oms, { quantity: "50" })).fills).toHaveLength(2);
  });

  it("passes a halt where the envelope lets exits pass, and else waits for it", async () => {
    const { fixture, oms } = await opposed();
    fixture.risk.exitsPassHalts = false;
    await fixture.halt({ severity: "STRATEGY_HALT", fund_id: "alpha", strategy_id: other });
    await mark(fixture);
    expect((await cross(oms, { cross_id: "stop-2-cross-1", quantity: "10" })).fills).toHaveLength(2);
    await fixture.halt({ severity: "STRATEGY_HALT", fund_id: "alpha", strategy_id: own });
    const rest = { from_quantity: "90", other_from_quantity: "-50", quantity: "50" };
    expect((await cross(oms, rest)).denial).toMatchObject({ code: "CROSS_HALTED" });
    fixture.risk.exitsPassHalts = true;
    expect((await cross(oms, rest)).fills).toHaveLength(2);
  });

  it.each([
    ["the same strategy twice", { other_strategy_id: own }],
    ["two long positions", { other_from_quantity: "60" }],
    ["a flat one", { other_from_quantity: "0" }],
    ["more than one of them holds", { quantity: "60.1" }],
    ["nothing", { quantity: "0" }],
    ["less than nothing", { quantity: "-1" }],
    ["no number", { quantity: "many" }],
    ["no id", { cross_id: "" }],
    ["no symbol", { symbol: "not one" }],
  ])("of %s is none", async (_what, differs) => {
    const { fixture, oms } = await opposed();
    await mark(fixture);
    await expect(cross(oms, differs)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    expect(crosses(fixture)).toEqual([]);
  });
});

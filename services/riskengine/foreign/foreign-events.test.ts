// 32.4 and 32.5 on the whole shell: what foreign programs publish is counted over restarts, a gap blocks its fund until it is filled or accepted, and what
// is about unknown things is refused without stopping anybody.
import { describe, expect, it } from "vitest";
import type { Fault } from "../../../contracts/src/fault.ts";
import type { Blocks, Exposures, ForeignPosition } from "../../../contracts/src/generated/svc/v1/riskengine.ts";
import { format } from "../../../contracts/src/instant.ts";
import type { NavUpdated } from "../../../contracts/src/records/fund.ts";
import type { Fill, OrderTransition } from "../../../contracts/src/records/order.ts";
import type { ReferenceContents } from "../../../contracts/src/records/reference.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import {
  desk,
  type EngineLife,
  machine,
  type RiskEngineFixture,
  riskEngineFixture,
} from "../../../testkit/risk/service-fixture.ts";

let seed = 32_400;

/** Whose values NATS brings. */
const betaByForeignTreasury = (seeded: ReferenceContents): ReferenceContents => ({
  ...seeded,
  funds: seeded.funds.map((fund) => (fund.fund_id === "beta" ? { ...fund, valued_by: "foreign-treasury" } : fund)),
});

async function begin(): Promise<[RiskEngineFixture, EngineLife]> {
  seed += 1;
  const fixture = await riskEngineFixture({ seed, reference: betaByForeignTreasury });
  const life = await fixture.start();
  // What their fills are of; one of an order that nobody asked about waits to be accepted.
  await fixture.finish(life.check({ order_id: "theirs", quantity: "100" }, desk));
  return [fixture, life];
}

/** The mark of AAPL is 232.5. */
function fillOf(fixture: RiskEngineFixture, sequence: number, differs: Partial<Fill> = {}): Fill {
  return {
    fill_id: `f-${sequence}`,
    order_id: "theirs",
    fund_id: "alpha",
    strategy_id: "alpha-momentum",
    symbol: "AAPL",
    side: "BUY",
    quantity: "10",
    price: "232.5",
    filled_at: format(fixture.time.clock.now()),
    sequence,
    ...differs,
  };
}

async function fill(fixture: RiskEngineFixture, sequence: number, differs: Partial<Fill> = {}): Promise<void> {
  await fixture.publishForeign(subjects.fillsCreated, fillOf(fixture, sequence, differs));
  await fixture.pass(200);
}

const codeOf = async (fixture: RiskEngineFixture, life: EngineLife, order: object = {}): Promise<string> =>
  (await fixture.finish(life.check({ quantity: "10", ...order }))).code;
const blocksOf = async (fixture: RiskEngineFixture, life: EngineLife) =>
  ((await fixture.finish(life.call("ListBlocks", {}))) as Blocks).blocks.filter(
    ({ code }) => code === "FILL_NOT_ACCEPTED",
  );
const heldOf = async (fixture: RiskEngineFixture, life: EngineLife): Promise<string | undefined> =>
  ((await fixture.finish(life.call("ListExposures", {}))) as Exposures).lines.find(({ symbol }) => symbol === "AAPL")
    ?.quantity;
const alarmsOf = (fixture: RiskEngineFixture, wanted: string) =>
  fixture.published(subjects.alarmRaised).filter(({ code }) => code === wanted);
const positionOf = async (fixture: RiskEngineFixture, life: EngineLife, source = "foreign-oms", fund_id = "alpha") =>
  (await fixture.finish(life.call("GetForeignPosition", { source, fund_id }, machine))) as ForeignPosition;

describe("32.4: a gap in a foreign publisher's numbers", () => {
  it("blocks its fund within 5 s and no other, lets exits pass, and ends by itself when the missing one comes", async () => {
    const [fixture, life] = await begin();
    for (const sequence of [1, 2, 4]) await fill(fixture, sequence);
    expect(await codeOf(fixture, life)).toBe("");
    await fixture.pass(4_000);
    expect(await codeOf(fixture, life)).toBe("FILL_NOT_ACCEPTED");
    expect(await codeOf(fixture, life, { symbol: "MSFT", limit_price: "428" })).toBe("FILL_NOT_ACCEPTED");
    expect(await codeOf(fixture, life, { side: "SELL", reduce_only: true })).toBe("");
    expect(await codeOf(fixture, life, { fund_id: "beta", strategy_id: "beta-trend", symbol: "BTC-USD" })).not.toBe(
      "FILL_NOT_ACCEPTED",
    );
    expect(alarmsOf(fixture, "EVENT_GAP")).toMatchObject([
      { sentence: expect.stringContaining("foreign-oms numbers its fills of alpha, and 3 never came") },
    ]);
    await fill(fixture, 3);
    await fixture.pass(2_000);
    expect([await codeOf(fixture, life), await heldOf(fixture, life)]).toEqual(["", "40"]);
    expect(alarmsOf(fixture, "EVENT_GAP")).toHaveLength(1);
    await fixture.finish(life.service.stop());
  });

  it("is found across a kill, stays until an operator accepts it, and is not blocked again after a restart", async () => {
    const [fixture, first] = await begin();
    await fill(fixture, 1);
    first.process.kill();
    const second = await fixture.start();
    await fill(fixture, 3);
    await fixture.pass(4_000);
    const [block] = await blocksOf(fixture, second);
    expect(block?.reason).toContain("2 never came");
    second.process.kill();
    const third = await fixture.start();
    expect((await blocksOf(fixture, third)).map(({ block_id }) => block_id)).toEqual([block?.block_id]);
    const gaps = [{ block_id: block?.block_id, missing: ["2"] }];
    const alone = { block_id: block?.block_id, reason: "the venue has no such trade", gaps };
    const refused = { denial: { code: "STEP_UP_REQUIRED" } };
    expect(await fixture.finish(third.call("AcceptBlock", alone))).toMatchObject(refused);
    expect(await codeOf(fixture, third)).toBe("FILL_NOT_ACCEPTED");
    const shown = [{ block_id: block?.block_id ?? "", missing: ["2"] }];
    await fixture.accept(third, [block?.block_id ?? ""], alone.reason, shown);
    expect(await codeOf(fixture, third)).toBe("");
    await fixture.pass(5_000);
    const { positions } = await positionOf(fixture, third);
    expect(positions).toContainEqual({ kind: "fills", last_sequence: 3, missing: [], refused: [] });
    third.process.kill();
    const fourth = await fixture.start();
    await fixture.pass(5_000);
    expect(await blocksOf(fixture, fourth)).toEqual([]);
    // Late after all: it is a fact, and counts.
    await fill(fixture, 2);
    expect(await heldOf(fixture, fourth)).toBe("30");
    await fixture.finish(fourth.service.stop());
  });

  it("cannot be found where numbers begin again, which is reported once; what is sent again as it was is nothing new", async () => {
    const [fixture, life] = await begin();
    const early = [1, 2, 3].map((sequence) => fillOf(fixture, sequence));
    for (const one of early) await fixture.publishForeign(subjects.fillsCreated, one);
    await fixture.pass(10_000);
    for (const one of early) await fixture.publishForeign(subjects.fillsCreated, one);
    await fixture.pass(1_000);
    expect(alarmsOf(fixture, "EVENT_UNNUMBERED")).toEqual([]);
    for (const sequence of [1, 2, 0]) await fill(fixture, sequence, { fill_id: `anew-${sequence}` });
    expect(alarmsOf(fixture, "EVENT_UNNUMBERED")).toMatchObject([
      { sentence: expect.stringContaining("foreign-oms numbers its fills of alpha from 1 on again, below the 3") },
    ]);
    expect(await heldOf(fixture, life)).toBe("60");
    await fixture.finish(life.service.stop());
  });

  it("orders and values are counted by themselves; a number that comes late in time blocks nothing; no number alarms once", async () => {
    const [fixture, life] = await begin();
    const step = (sequence: number): OrderTransition => ({
      order_id: "theirs",
      fund_id: "alpha",
      strategy_id: "alpha-momentum",
      symbol: "AAPL",
      from: "ROUTED",
      to: "WORKING",
      filled_quantity: "0",
      remaining_quantity: "10",
      sequence,
      at: format(fixture.time.clock.now()),
    });
    const value = (sequence: number): NavUpdated => ({
      fund_id: "beta",
      nav: "2000000",
      currency: "USD",
      strategy_pnl: {},
      sequence,
      as_of: format(fixture.time.clock.now()),
    });
    await fill(fixture, 1);
    for (const sequence of [1, 3, 2]) await fixture.publishForeign(subjects.ordersUpdated, step(sequence));
    for (const sequence of [1, 2]) await fixture.publishForeign(subjects.navUpdated, value(sequence));
    await fixture.pass(6_000);
    expect(await codeOf(fixture, life)).toBe("");
    const { sequence: _none, ...unnumbered } = fillOf(fixture, 2);
    await fixture.publishForeign(subjects.fillsCreated, unnumbered);
    await fixture.publishForeign(subjects.fillsCreated, { ...unnumbered, fill_id: "another" });
    await fixture.pass(200);
    expect(alarmsOf(fixture, "EVENT_UNNUMBERED")).toMatchObject([{ sentence: expect.stringMatching(/^foreign-oms /) }]);
    expect(await heldOf(fixture, life)).toBe("30");
    expect((await positionOf(fixture, life)).positions).toEqual([
      { kind: "orders", last_sequence: 3, missing: [], refused: [] },
      { kind: "fills", last_sequence: 1, missing: [], refused: [] },
      { kind: "values", last_sequence: undefined, missing: [], refused: [] },
    ]);
    expect((await positionOf(fixture, life, "foreign-treasury", "beta")).positions[2]?.last_sequence).toBe(2);
    const strange = life.call("GetForeignPosition", { source: "somebody", fund_id: "alpha" }, machine);
    expect(await fixture.finish(strange.catch((fault: Fault) => fault.code))).toBe("PERMISSION_DENIED");
    await fixture.finish(life.service.stop());
  });
});

describe("32.5: what is about unknown things", () => {
  it("is refused, named, put aside and counted; the fund trades on", async () => {
    const [fixture, life] = await begin();
    const parked = () =>
      fixture.tables.parked.map(({ subscription, error, state }) => `${subscription} ${state} ${error.split(".")[0]}`);
    await fill(fixture, 1);
    await fill(fixture, 2, { symbol: "APPL" });
    await fill(fixture, 3, { strategy_id: "alpha-momentun" });
    await fill(fixture, 4, { price: "0" });
    await fill(fixture, 1, { fill_id: "f-x", fund_id: "alhpa" });
    await fill(fixture, 1, { quantity: "11" });
    const value = { fund_id: "beta", nav: "1", currency: "EUR", as_of: format(fixture.time.clock.now()), sequence: 1 };
    await fixture.publishForeign(subjects.navUpdated, value);
    await fill(fixture, 5);
    await fixture.pass(6_000);
    expect(parked()).toEqual([
      "riskengine.fills PARKED Refused: EVENT_SYMBOL_UNKNOWN",
      "riskengine.fills PARKED Refused: EVENT_STRATEGY_UNKNOWN",
      "riskengine.fills PARKED Refused: EVENT_PRICE_IMPOSSIBLE",
      "riskengine.fills PARKED Refused: EVENT_FUND_UNKNOWN",
      "riskengine.fills PARKED Refused: EVENT_FILL_CHANGED",
      "riskengine.nav PARKED Refused: EVENT_CURRENCY_WRONG",
    ]);
    const refused = alarmsOf(fixture, "EVENT_REFUSED");
    expect(refused).toHaveLength(6);
    expect(refused[0]?.sentence).toMatch(
      /^foreign-oms published svc\.v1\.oms\.fills\.created \S+: EVENT_SYMBOL_UNKNOWN\./,
    );
    expect([await codeOf(fixture, life), await heldOf(fixture, life)]).toEqual(["", "20"]);
    expect((await positionOf(fixture, life)).positions[1]).toMatchObject({ last_sequence: 5, missing: [] });
    await fixture.finish(life.service.stop());
  });
});

describe("a price of a symbol that nobody knows", () => {
  it("alarms once for its feed while it is published, and not when the symbol is known by then", async () => {
    const [fixture, life] = await begin();
    const price = async (symbol: string, source: string): Promise<void> => {
      const at = format(fixture.time.clock.now());
      fixture.outside.bus.broadcast(subjects.marketMarks, { symbol, price: "5", source, at });
      await fixture.pass(3_000);
    };
    for (let n = 0; n < 5; n += 1) await price("APPL", "their-feed");
    for (let n = 0; n < 3; n += 1) await price("AAPL", "fixture");
    expect(alarmsOf(fixture, "EVENT_REFUSED")).toMatchObject([
      { sentence: expect.stringMatching(/^their-feed publishes prices of APPL: EVENT_SYMBOL_UNKNOWN\. /) },
    ]);
    await fixture.finish(life.service.stop());
  });
});

describe("32.5: a price of zero or less", () => {
  it("moves nothing, and alarms once for its publisher until a good one comes", async () => {
    const [fixture, life] = await begin();
    const price = async (text: string): Promise<void> => {
      const at = format(fixture.time.clock.now());
      fixture.outside.bus.broadcast(subjects.marketMarks, { symbol: "AAPL", price: text, source: "fixture", at });
      await fixture.pass(300);
    };
    for (const text of ["0", "-1", "0"]) await price(text);
    expect(await codeOf(fixture, life)).toBe("");
    expect(alarmsOf(fixture, "EVENT_REFUSED")).toMatchObject([
      { sentence: expect.stringMatching(/^fixture published .* of AAPL: EVENT_PRICE_IMPOSSIBLE\. .* is 0, /) },
    ]);
    await price("232.5");
    await price("0");
    expect(alarmsOf(fixture, "EVENT_REFUSED")).toHaveLength(2);
    await fixture.finish(life.service.stop());
  });
});

// Ids of fills are everybody's. Whoever uses one first keeps it in the books: another source's fill under it is refused, listed and holds its fund, and one of our own
// order management is booked beside it.
import { describe, expect, it } from "vitest";
import type { Blocks, Exposures } from "../../../contracts/src/generated/svc/v1/riskengine.ts";
import { format } from "../../../contracts/src/instant.ts";
import type { Fill } from "../../../contracts/src/records/order.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import {
  desk,
  type EngineLife,
  machineOf,
  type RiskEngineFixture,
  riskEngineFixture,
} from "../../../testkit/risk/service-fixture.ts";

let seed = 45_900;

async function begin(): Promise<[RiskEngineFixture, EngineLife]> {
  seed += 1;
  const fixture = await riskEngineFixture({ seed });
  const life = await fixture.start();
  await fixture.finish(life.check({ order_id: "theirs", quantity: "100" }, desk));
  await fixture.finish(life.check({ order_id: "liars", quantity: "100" }, machineOf("liar")));
  return [fixture, life];
}

const fillOf = (fixture: RiskEngineFixture, differs: Partial<Fill> = {}): Fill => ({
  fill_id: "f-1",
  order_id: "theirs",
  fund_id: "alpha",
  strategy_id: "alpha-momentum",
  symbol: "AAPL",
  side: "BUY",
  quantity: "10",
  price: "232.5",
  filled_at: format(fixture.time.clock.now()),
  ...differs,
});

async function settle(fixture: RiskEngineFixture): Promise<void> {
  await fixture.pass(3_000);
  await fixture.putPrices();
}

const codeOf = async (fixture: RiskEngineFixture, life: EngineLife): Promise<string> =>
  (await fixture.finish(life.check({ quantity: "10" }))).code;
const heldReasons = async (fixture: RiskEngineFixture, life: EngineLife) =>
  ((await fixture.finish(life.call("ListBlocks", {}))) as Blocks).blocks
    .filter(({ reason }) => reason.includes("refused: "))
    .map(({ reason }) => reason);
const positionOf = async (fixture: RiskEngineFixture, life: EngineLife): Promise<string | undefined> =>
  ((await fixture.finish(life.call("ListExposures", {}))) as Exposures).lines.find(({ symbol }) => symbol === "AAPL")
    ?.quantity;
const parked = (fixture: RiskEngineFixture): readonly string[] =>
  fixture.tables.parked.map(({ subscription, subject, state }) => `${subscription} ${subject} ${state}`);

describe("a fill under an id that another source used first", () => {
  it("is refused and listed, and its fund waits until it comes under another id and the refused one is discarded", async () => {
    const [fixture, life] = await begin();
    await fixture.publishFor("liar", subjects.fillsCreated, fillOf(fixture, { order_id: "liars", quantity: "1" }));
    await settle(fixture);
    expect(await codeOf(fixture, life)).toBe("");
    await fixture.publishFor("desk", subjects.fillsCreated, fillOf(fixture));
    await settle(fixture);
    expect([await codeOf(fixture, life), await positionOf(fixture, life)]).toEqual(["FILL_NOT_ACCEPTED", "1"]);
    expect(await heldReasons(fixture, life)).toEqual([
      expect.stringMatching(
        /EVENT_FILL_CHANGED\. The id of fill f-1 was used by liar before, .* under another fill_id/,
      ),
    ]);
    expect(parked(fixture)).toEqual([
      "riskengine.fills svc.v1.oms.fills.created PARKED",
      "riskengine.fills svc.v1.operations.foreign.held HELD",
    ]);
    await fixture.publishFor("desk", subjects.fillsCreated, fillOf(fixture, { fill_id: "desk:f-1" }));
    await settle(fixture);
    const { subscription = "", eventId = "" } = fixture.tables.parked.find(({ state }) => state === "HELD") ?? {};
    const how = { at: fixture.time.clock.now(), by: "operator:duty", reason: "published under another id" };
    const discard = fixture.outside.store.transact("discard", (unit) =>
      unit.parked.discard(subscription, eventId, how),
    );
    await fixture.finish(discard);
    await settle(fixture);
    expect([await codeOf(fixture, life), await positionOf(fixture, life)]).toEqual(["", "11"]);
    await fixture.finish(life.service.stop());
  });

  it("in another fund at the same moment is not taken for the first one: it is listed, and holds its own fund", async () => {
    const [fixture, life] = await begin();
    const operations = fixture.platform.processOf("operations").store;
    const other = {
      fund_id: "beta",
      strategy_id: "beta-trend",
      symbol: "BTC-USD",
      order_id: "liars-b",
      price: "91000",
    };
    const asked = { ...other, quantity: "1", limit_price: other.price, asset_class: "CRYPTO" } as const;
    await fixture.finish(life.check(asked, machineOf("liar")));
    const together = operations.transact("outside", async (unit) => {
      await unit.events.publishFor("desk", subjects.fillsCreated, fillOf(fixture));
      await unit.events.publishFor("liar", subjects.fillsCreated, fillOf(fixture, { ...other, quantity: "0.1" }));
    });
    await fixture.finish(together);
    await settle(fixture);
    const { lines } = (await fixture.finish(life.call("ListExposures", {}))) as Exposures;
    const held = (symbolOf: string) => lines.find(({ symbol }) => symbol === symbolOf)?.quantity ?? "0";
    expect([held("AAPL"), held("BTC-USD")].filter((quantity) => quantity !== "0")).toHaveLength(1);
    expect(await heldReasons(fixture, life)).toEqual([expect.stringContaining("EVENT_FILL_CHANGED")]);
    expect(parked(fixture)).toEqual([
      "riskengine.fills svc.v1.oms.fills.created PARKED",
      "riskengine.fills svc.v1.operations.foreign.held HELD",
    ]);
    await fixture.finish(life.service.stop());
  });

  it("of its own source, changed, is listed and holds nothing, and the same again is one fill", async () => {
    const [fixture, life] = await begin();
    await fixture.publishFor("desk", subjects.fillsCreated, fillOf(fixture));
    await fixture.publishFor("desk", subjects.fillsCreated, fillOf(fixture, { quantity: "10.0" }));
    await fixture.publishFor("desk", subjects.fillsCreated, fillOf(fixture, { quantity: "11" }));
    await settle(fixture);
    expect([await codeOf(fixture, life), await positionOf(fixture, life)]).toEqual(["", "10"]);
    expect(parked(fixture)).toEqual(["riskengine.fills svc.v1.oms.fills.created PARKED"]);
    await fixture.finish(life.service.stop());
  });
});

describe("a fill of our own order management", () => {
  it("counts once beside a foreign one under its id, over a kill too", async () => {
    const [fixture, first] = await begin();
    await fixture.publishFor("liar", subjects.fillsCreated, fillOf(fixture, { order_id: "liars", quantity: "1" }));
    await settle(fixture);
    const own = fixture.platform.processOf("oms").store;
    const publish = () =>
      fixture.finish(own.transact("outside", (unit) => unit.events.publish(subjects.fillsCreated, fillOf(fixture))));
    await publish();
    await settle(fixture);
    expect(await positionOf(fixture, first)).toBe("11");
    await publish();
    await settle(fixture);
    first.process.kill();
    const second = await fixture.start();
    await settle(fixture);
    expect(await positionOf(fixture, second)).toBe("11");
    expect(await heldReasons(fixture, second)).toEqual([]);
    await fixture.finish(second.service.stop());
  });
});

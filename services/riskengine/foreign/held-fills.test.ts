// Fills that cannot be taken, on the whole shell: the fund whose fills wait takes no new risk, over restarts, until they are booked or an operator accepts it.
import { describe, expect, it } from "vitest";
import type { Blocks, Exposures } from "../../../contracts/src/generated/svc/v1/riskengine.ts";
import { format } from "../../../contracts/src/instant.ts";
import type { Fill } from "../../../contracts/src/records/order.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import {
  desk,
  type EngineLife,
  type RiskEngineFixture,
  riskEngineFixture,
} from "../../../testkit/risk/service-fixture.ts";

const encoder = new TextEncoder();
const subscription = "riskengine.fills";
let seed = 50_000;

async function begin(): Promise<[RiskEngineFixture, EngineLife]> {
  seed += 1;
  const fixture = await riskEngineFixture({ seed });
  const life = await fixture.start();
  // What their fills are of; one of an order that nobody asked about waits to be accepted.
  await fixture.finish(life.check({ order_id: "theirs", quantity: "100" }, desk));
  return [fixture, life];
}

/** As it comes from NATS: nobody checks it before it was acknowledged. */
async function fill(fixture: RiskEngineFixture, n: number, differs: Partial<Fill> = {}): Promise<string> {
  const at = fixture.time.clock.now();
  const payload: Fill = {
    fill_id: `f-${n}`,
    order_id: "theirs",
    fund_id: "alpha",
    strategy_id: "alpha-momentum",
    symbol: "AAPL",
    side: "BUY",
    quantity: "10",
    price: "232.5",
    filled_at: format(at),
    ...differs,
  };
  const id = `nats-${seed}-${n}`;
  const bytes = encoder.encode(JSON.stringify(payload));
  const event = { id, subject: subjects.fillsCreated.name, key: payload.fund_id, at, source: "foreign", bytes };
  fixture.tables.append([{ ...event, sequence: fixture.tables.nextSequence() }]);
  await fixture.pass(3_000);
  await fixture.putPrices();
  return id;
}

async function discard(fixture: RiskEngineFixture, eventId: string): Promise<void> {
  const how = { at: fixture.time.clock.now(), by: "operator:duty", reason: "sent again as it should be" };
  const work = fixture.outside.store.transact("discard", (unit) => unit.parked.discard(subscription, eventId, how));
  await fixture.finish(work);
  await fixture.pass(3_000);
  await fixture.putPrices();
}

const codeOf = async (fixture: RiskEngineFixture, life: EngineLife, order: object = {}): Promise<string> =>
  (await fixture.finish(life.check({ quantity: "10", ...order }))).code;
const ofBeta = { fund_id: "beta", strategy_id: "beta-trend", symbol: "BTC-USD" };
const blocksOf = async (fixture: RiskEngineFixture, life: EngineLife) =>
  ((await fixture.finish(life.call("ListBlocks", {}))) as Blocks).blocks.filter(
    ({ code }) => code === "FILL_NOT_ACCEPTED",
  );
const heldOf = async (fixture: RiskEngineFixture, life: EngineLife): Promise<string | undefined> =>
  ((await fixture.finish(life.call("ListExposures", {}))) as Exposures).lines.find(({ symbol }) => symbol === "AAPL")
    ?.quantity;
const alarmed = (fixture: RiskEngineFixture): number =>
  fixture.published(subjects.alarmRaised).filter(({ code }) => code === "FILLS_HELD").length;

describe("a fill that nobody can take", () => {
  it("keeps its fund from new risk while those behind it wait, lets exits and other funds pass, and ends by itself", async () => {
    const [fixture, life] = await begin();
    await fill(fixture, 1);
    expect(await codeOf(fixture, life)).toBe("");
    const wrong = await fill(fixture, 2, { quantity: "-1" });
    await fill(fixture, 3);
    expect(await codeOf(fixture, life)).toBe("FILL_NOT_ACCEPTED");
    expect(await codeOf(fixture, life, { symbol: "MSFT", limit_price: "428" })).toBe("FILL_NOT_ACCEPTED");
    expect(await codeOf(fixture, life, { side: "SELL", reduce_only: true })).toBe("");
    expect(await codeOf(fixture, life, ofBeta)).not.toBe("FILL_NOT_ACCEPTED");
    expect(await blocksOf(fixture, life)).toMatchObject([
      { fund_id: "alpha", reason: expect.stringContaining(wrong), block_id: `held-${wrong}` },
    ]);
    expect([await heldOf(fixture, life), alarmed(fixture)]).toEqual(["10", 1]);
    await discard(fixture, wrong);
    expect([await codeOf(fixture, life), await heldOf(fixture, life)]).toEqual(["", "20"]);
    expect([await blocksOf(fixture, life), alarmed(fixture)]).toEqual([[], 1]);
    await fixture.finish(life.service.stop());
  });

  it("is blocked over a kill, opens no second block, and what an operator accepted stays accepted", async () => {
    const [fixture, first] = await begin();
    const wrong = await fill(fixture, 1, { price: "dear" });
    const [block] = await blocksOf(fixture, first);
    first.process.kill();
    const second = await fixture.start();
    await fixture.putPrices();
    expect(await codeOf(fixture, second)).toBe("FILL_NOT_ACCEPTED");
    await fixture.pass(3_000);
    expect((await blocksOf(fixture, second)).map(({ block_id }) => block_id)).toEqual([block?.block_id]);
    await fixture.finish(second.call("AcceptBlock", { block_id: block?.block_id ?? "", reason: "booked by hand" }));
    await fixture.putPrices();
    expect(await codeOf(fixture, second)).toBe("");
    second.process.kill();
    const third = await fixture.start();
    await fixture.pass(3_000);
    await fixture.putPrices();
    expect([await codeOf(fixture, third), await blocksOf(fixture, third)]).toEqual(["", []]);
    // Another one that cannot be taken is another block.
    await discard(fixture, wrong);
    const another = await fill(fixture, 2, { side: "SIDEWAYS" as never });
    expect((await blocksOf(fixture, third)).map(({ block_id }) => block_id)).toEqual([`held-${another}`]);
    expect(alarmed(fixture)).toBe(2);
    await fixture.finish(third.service.stop());
  });

  it("of a fund that nobody knows blocks nothing", async () => {
    const [fixture, life] = await begin();
    await fill(fixture, 1, { fund_id: "nobodys", quantity: "-1" });
    expect([await codeOf(fixture, life), await blocksOf(fixture, life), alarmed(fixture)]).toEqual(["", [], 0]);
    await fixture.finish(life.service.stop());
  });
});

// 45.2 on the whole shell: what a foreign publisher's numbers miss is one block and one alarm for each source, fund and kind, which says what is missing, what
// of it was refused, and what ends it. An operator accepts the numbers that were shown.
import { describe, expect, it } from "vitest";
import type { BlockedGap, Blocks, ForeignPosition } from "../../../contracts/src/generated/svc/v1/riskengine.ts";
import { format } from "../../../contracts/src/instant.ts";
import type { Fill } from "../../../contracts/src/records/order.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import {
  type EngineLife,
  machine,
  type RiskEngineFixture,
  riskEngineFixture,
} from "../../../testkit/risk/service-fixture.ts";

let seed = 45_200;

async function begin(): Promise<[RiskEngineFixture, EngineLife]> {
  seed += 1;
  const fixture = await riskEngineFixture({ seed });
  const life = await fixture.start();
  await fixture.finish(life.check({ order_id: "theirs", quantity: "1000" }));
  return [fixture, life];
}

async function fill(fixture: RiskEngineFixture, sequence: number): Promise<void> {
  const one: Fill = {
    fill_id: `f-${sequence}`,
    order_id: "theirs",
    fund_id: "alpha",
    strategy_id: "alpha-momentum",
    symbol: "AAPL",
    side: "BUY",
    quantity: "1",
    price: "232.5",
    filled_at: format(fixture.time.clock.now()),
    sequence,
  };
  await fixture.publishForeign(subjects.fillsCreated, one);
  await fixture.pass(200);
}

const gapsOf = async (fixture: RiskEngineFixture, life: EngineLife) =>
  ((await fixture.finish(life.call("ListBlocks", {}))) as Blocks).blocks.flatMap(
    ({ gap, block_id = "", reason, ends }) => (gap === undefined ? [] : [{ ...gap, block_id, reason, ends }]),
  );
const alarmsOf = (fixture: RiskEngineFixture) =>
  fixture.published(subjects.alarmRaised).filter(({ code }) => code === "EVENT_GAP");
const missingIn = (gaps: readonly BlockedGap[]) => gaps.map(({ missing }) => missing);

describe("45.2: what a publisher's numbers miss", () => {
  it("is one block and one alarm, however often it skips; the block follows what is missing, and ends when nothing is", async () => {
    const [fixture, life] = await begin();
    for (const sequence of [1, 3, 5]) await fill(fixture, sequence);
    await fixture.pass(4_000);
    const [first] = await gapsOf(fixture, life);
    for (const sequence of [9, 12]) await fill(fixture, sequence);
    await fixture.pass(4_000);
    const [second] = await gapsOf(fixture, life);
    expect([first, second]).toMatchObject([
      { source: "foreign-oms", kind: "fills", missing: ["2", "4"], block_id: second?.block_id },
      {
        missing: ["2", "4", "6 to 8", "10 to 11"],
        reason: expect.stringContaining("2, 4, 6 to 8, 10 to 11 never came"),
      },
    ]);
    expect(alarmsOf(fixture)).toHaveLength(1);
    for (const sequence of [2, 4, 6]) await fill(fixture, sequence);
    await fixture.pass(1_000);
    expect(missingIn(await gapsOf(fixture, life))).toEqual([["7 to 8", "10 to 11"]]);
    life.process.kill();
    const again = await fixture.start();
    await fixture.pass(5_000);
    expect(missingIn(await gapsOf(fixture, again))).toEqual([["7 to 8", "10 to 11"]]);
    for (const sequence of [7, 8, 10, 11]) await fill(fixture, sequence);
    await fixture.pass(1_000);
    expect(await gapsOf(fixture, again)).toEqual([]);
    const told = fixture.published(subjects.blockOpened).map(({ gap }) => gap?.missing.length);
    expect([told[0], new Set(told).has(4), told.at(-1)]).toEqual([2, true, 1]);
    expect(alarmsOf(fixture)).toHaveLength(1);
    await fixture.finish(again.service.stop());
  });

  it("names what was refused without using up its number, to the operator and to the publisher", async () => {
    const [fixture, life] = await begin();
    await fill(fixture, 1);
    const stream = { source: "foreign-oms", fundId: "alpha", kind: "fills" } as const;
    const position = { last: 1, missing: [], refused: [{ number: 2, code: "BUS_PAYLOAD_INVALID" }] };
    await fixture.finish(
      fixture.outside.store.transact("risk.foreign", (unit) =>
        unit.foreign.put(stream, position, fixture.time.clock.now()),
      ),
    );
    await fill(fixture, 4);
    await fixture.pass(4_000);
    expect(await gapsOf(fixture, life)).toMatchObject([
      {
        missing: ["2 to 3"],
        refused: [{ number: 2, code: "BUS_PAYLOAD_INVALID" }],
        reason: expect.stringContaining("Refused, without using up the number: 2 (BUS_PAYLOAD_INVALID)."),
        ends: expect.stringContaining("An operator accepts it"),
      },
    ]);
    const request = { source: "foreign-oms", fund_id: "alpha" };
    const { positions } = (await fixture.finish(life.call("GetForeignPosition", request, machine))) as ForeignPosition;
    expect(positions[1]).toMatchObject({ missing: ["2 to 3"], refused: [{ number: 2, code: "BUS_PAYLOAD_INVALID" }] });
    await fixture.finish(life.service.stop());
  });

  it("is accepted by the numbers that were shown: not without them, not when more is missing by now, and nothing beside them", async () => {
    const [fixture, life] = await begin();
    for (const sequence of [1, 3, 5]) await fill(fixture, sequence);
    await fixture.pass(4_000);
    const [gap] = await gapsOf(fixture, life);
    const id = gap?.block_id ?? "";
    const changed = { denial: { code: "GAP_CHANGED", reason: expect.stringContaining("2, 4") } };
    expect(await fixture.accept(life, [id], "unseen")).toMatchObject(changed);
    expect(await fixture.accept(life, [id], "half of it", [{ block_id: id, missing: ["2"] }])).toMatchObject(changed);
    // One came meanwhile, and another is missing that the block does not say yet.
    await fill(fixture, 2);
    await fill(fixture, 7);
    await fixture.pass(1_000);
    const shown = [{ block_id: id, missing: ["2", "4"] }];
    expect(await fixture.accept(life, [id], "not to be had", shown)).toMatchObject({
      gaps: [{ block_id: id, missing: ["4"] }],
    });
    await fixture.pass(5_000);
    const left = await gapsOf(fixture, life);
    expect(missingIn(left)).toEqual([["6"]]);
    expect(left[0]?.block_id).not.toBe(id);
    expect(alarmsOf(fixture)).toHaveLength(2);
    const ended = fixture.published(subjects.blockEnded).filter(({ block_id }) => block_id === id);
    expect(ended).toMatchObject([{ accepted_missing: [{ from: 4, to: 4 }], ended_by: "operator:duty" }]);
    await fixture.finish(life.service.stop());
  });

  it("a block of before, which says no numbers, says them after the upgrade and is alarmed no second time", async () => {
    const [fixture, life] = await begin();
    for (const sequence of [1, 3]) await fill(fixture, sequence);
    await fixture.pass(4_000);
    for (const row of fixture.tables.risk.journal.filter(({ kind }) => kind === "block")) {
      const { gap: _gap, ...before } = JSON.parse(new TextDecoder().decode(row.payload));
      Object.assign(row, { payload: new TextEncoder().encode(JSON.stringify(before)) });
    }
    life.process.kill();
    const upgraded = await fixture.start();
    await fixture.pass(4_000);
    expect(missingIn(await gapsOf(fixture, upgraded))).toEqual([["2"]]);
    expect(alarmsOf(fixture)).toHaveLength(1);
    await fixture.finish(upgraded.service.stop());
  });
});

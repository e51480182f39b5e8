// 32.5 on the whole shell of the risk engine: a bust takes its fill back once, before or after it, over kills, and only for whoever published it.
import { describe, expect, it } from "vitest";
import type { Blocks, Exposures, ForeignPosition } from "../../../contracts/src/generated/svc/v1/riskengine.ts";
import { format, minusMilliseconds } from "../../../contracts/src/instant.ts";
import type { Fill, FillBusted } from "../../../contracts/src/records/order.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import {
  desk,
  type EngineLife,
  machine,
  type RiskEngineFixture,
  riskEngineFixture,
} from "../../../testkit/risk/service-fixture.ts";
import { prng } from "../../../testkit/virtual/prng.ts";

let seed = 32_560;

async function begin(): Promise<[RiskEngineFixture, EngineLife]> {
  seed += 1;
  const fixture = await riskEngineFixture({ seed });
  const life = await fixture.start();
  // What their fills are of; one of an order that nobody asked about waits to be accepted.
  await fixture.finish(life.check({ order_id: "theirs", quantity: "100" }, desk));
  return [fixture, life];
}

/** The mark of AAPL is 232.5. */
const fillOf = (fixture: RiskEngineFixture, n: number, differs: Partial<Fill> = {}): Fill => ({
  fill_id: `f-${n}`,
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
const bustOf = (fixture: RiskEngineFixture, n: number, differs: Partial<FillBusted> = {}): FillBusted => ({
  bust_id: `b-${n}`,
  fill_id: `f-${n}`,
  order_id: "theirs",
  fund_id: "alpha",
  strategy_id: "alpha-momentum",
  symbol: "AAPL",
  reason: "erroneous trade",
  at: format(fixture.time.clock.now()),
  ...differs,
});
async function fill(fixture: RiskEngineFixture, n: number, differs: Partial<Fill> = {}): Promise<void> {
  await fixture.publishForeign(subjects.fillsCreated, fillOf(fixture, n, differs));
  await fixture.pass(200);
}
async function bust(fixture: RiskEngineFixture, n: number, differs: Partial<FillBusted> = {}): Promise<void> {
  await fixture.publishForeign(subjects.fillsBusted, bustOf(fixture, n, differs));
  await fixture.pass(200);
}
const heldOf = async (fixture: RiskEngineFixture, life: EngineLife): Promise<string> =>
  ((await fixture.finish(life.call("ListExposures", {}))) as Exposures).lines.find(({ symbol }) => symbol === "AAPL")
    ?.quantity ?? "0";
const blocksOf = async (fixture: RiskEngineFixture, life: EngineLife): Promise<number> =>
  ((await fixture.finish(life.call("ListBlocks", {}))) as Blocks).blocks.filter(
    ({ code }) => code === "FILL_NOT_ACCEPTED",
  ).length;
const refusedOf = (fixture: RiskEngineFixture): readonly (string | undefined)[] =>
  fixture
    .published(subjects.alarmRaised)
    .filter(({ code }) => code === "EVENT_REFUSED")
    .map(({ sentence }) => /: (EVENT_\w+)\./.exec(sentence)?.[1]);

describe("32.5: a bust in the risk engine", () => {
  it("takes the position back once, counts among the fills' numbers, and stays so over a kill", async () => {
    const [fixture, first] = await begin();
    await fill(fixture, 1, { sequence: 1 });
    await fill(fixture, 2, { sequence: 2 });
    await bust(fixture, 1, { sequence: 3 });
    expect(await heldOf(fixture, first)).toBe("10");
    first.process.kill();
    const second = await fixture.start();
    await bust(fixture, 1, { sequence: 3 });
    await fill(fixture, 1, { sequence: 1 });
    expect([await heldOf(fixture, second), refusedOf(fixture)]).toEqual(["10", []]);
    const asked = second.call("GetForeignPosition", { source: "foreign-oms", fund_id: "alpha" }, machine);
    const { positions } = (await fixture.finish(asked)) as ForeignPosition;
    expect(positions).toContainEqual({ kind: "fills", last_sequence: 3, missing: [], refused: [] });
    await fixture.finish(second.service.stop());
  });

  it("waits for a fill that has not come, with an alarm, over a kill", async () => {
    const [fixture, first] = await begin();
    await bust(fixture, 1);
    expect(fixture.published(subjects.alarmRaised).filter(({ code }) => code === "BUST_WITHOUT_FILL")).toHaveLength(1);
    first.process.kill();
    const second = await fixture.start();
    await fill(fixture, 1);
    await fill(fixture, 2);
    expect([await heldOf(fixture, second), refusedOf(fixture)]).toEqual(["10", []]);
    await fixture.finish(second.service.stop());
  });

  it("is an alarm where a baseline was taken since the fill, and none on its own day", async () => {
    const [fixture, life] = await begin();
    const alarmed = () => fixture.published(subjects.alarmRaised).filter(({ code }) => code === "BUST_AFTER_BASELINE");
    await fill(fixture, 1);
    await bust(fixture, 1);
    expect(alarmed()).toEqual([]);
    const before = format(minusMilliseconds(fixture.time.clock.now(), 8 * 86_400_000));
    await fill(fixture, 2, { filled_at: before });
    await bust(fixture, 2);
    expect(alarmed()).toMatchObject([{ sentence: expect.stringContaining("Fill f-2 of alpha") }]);
    await fixture.finish(life.service.stop());
  });

  it("ends the block of its fill, also after a restart", async () => {
    const [fixture, life] = await begin();
    await fill(fixture, 1, { price: "1" });
    expect(await blocksOf(fixture, life)).toBe(1);
    await bust(fixture, 1);
    expect([await blocksOf(fixture, life), await heldOf(fixture, life)]).toEqual([0, "0"]);
    life.process.kill();
    const second = await fixture.start();
    expect([await blocksOf(fixture, second), await heldOf(fixture, second)]).toEqual([0, "0"]);
    const [ended] = fixture.published(subjects.blockEnded);
    expect(ended?.reason).toBe("Fill f-1 was taken back by bust b-1.");
    await fixture.finish(second.service.stop());
  });

  it("lets the correction of a complete order pass without a block", async () => {
    const [fixture, life] = await begin();
    const order = { order_id: "mine", quantity: "10" };
    expect((await fixture.finish(life.check(order, desk))).code).toBe("");
    await fill(fixture, 1, { order_id: "mine" });
    await bust(fixture, 1, { order_id: "mine" });
    await fill(fixture, 2, { order_id: "mine", price: "232" });
    expect([await heldOf(fixture, life), await blocksOf(fixture, life)]).toEqual(["10", 0]);
    // One more is more than was approved.
    await fill(fixture, 3, { order_id: "mine" });
    expect(await blocksOf(fixture, life)).toBe(1);
    await fixture.finish(life.service.stop());
  });

  it("is refused with its code for what it may not take back, and moves nothing", async () => {
    const [fixture, life] = await begin();
    let count = 0;
    const isRefusedAs = (code: string): void => {
      count += 1;
      expect([refusedOf(fixture).length, refusedOf(fixture).at(-1)]).toEqual([count, code]);
    };
    await fixture.publish(subjects.fillsCreated, fillOf(fixture, 1));
    await fixture.pass(200);
    await bust(fixture, 1);
    isRefusedAs("EVENT_BUST_NOT_YOURS");
    await fill(fixture, 2, { kind: "SEED" });
    await bust(fixture, 2);
    isRefusedAs("EVENT_BUST_KIND");
    await fill(fixture, 3);
    await bust(fixture, 3, { order_id: "another" });
    isRefusedAs("EVENT_BUST_MISMATCH");
    await bust(fixture, 3);
    await bust(fixture, 3, { bust_id: "b-x" });
    isRefusedAs("EVENT_FILL_BUSTED");
    await bust(fixture, 4, { bust_id: "b-3" });
    isRefusedAs("EVENT_BUST_CHANGED");
    await bust(fixture, 5, { symbol: "APPL" });
    isRefusedAs("EVENT_SYMBOL_UNKNOWN");
    // Names its fill wrongly, and is found out when that comes.
    await bust(fixture, 6, { symbol: "MSFT" });
    await fill(fixture, 6);
    isRefusedAs("EVENT_BUST_MISMATCH");
    expect(await heldOf(fixture, life)).toBe("30");
    await fixture.finish(life.service.stop());
  });

  it("comes to the same books in any order, repeated, and with kills in between", async () => {
    for (let round = 0; round < 3; round += 1) {
      const [fixture, begun] = await begin();
      let life = begun;
      const random = prng(seed);
      const busted = [1, 3, 4, 6];
      const messages = [1, 2, 3, 4, 5, 6].flatMap((n) => {
        const own = [() => fill(fixture, n, { quantity: String(n), filled_at: "2026-11-16T10:00:00Z" })];
        if (busted.includes(n)) own.push(() => bust(fixture, n, { at: "2026-11-16T11:00:00Z" }));
        return [...own, ...own];
      });
      while (messages.length > 0) {
        const telling = messages.splice(random.below(messages.length), 1)[0]?.();
        if (random.below(5) > 0) {
          await telling;
          continue;
        }
        // In the middle of it.
        await fixture.pass(random.below(4));
        life.process.kill();
        life = await fixture.start();
      }
      expect([await heldOf(fixture, life), refusedOf(fixture)]).toEqual(["7", []]);
      life.process.kill();
      life = await fixture.start();
      expect(await heldOf(fixture, life)).toBe("7");
      expect(fixture.tables.risk.journal.filter(({ kind }) => kind === "fill")).toHaveLength(6 + busted.length);
      await fixture.finish(life.service.stop());
    }
  });
});

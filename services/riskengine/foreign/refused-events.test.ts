// What was refused before the engine could take it, on the whole shell: counted by the one rule, alarmed once, listed, and a fill's fund waits, over gRPC as over
// NATS. An event id is its content on NATS too, where the server lets it through.
import { describe, expect, it } from "vitest";
import type { Blocks, Exposures, ForeignPosition } from "../../../contracts/src/generated/svc/v1/riskengine.ts";
import { format } from "../../../contracts/src/instant.ts";
import type { RefusedForeignEvent } from "../../../contracts/src/records/foreign.ts";
import type { NavUpdated } from "../../../contracts/src/records/fund.ts";
import type { Fill } from "../../../contracts/src/records/order.ts";
import type { ReferenceContents } from "../../../contracts/src/records/reference.ts";
import type { Subject } from "../../../contracts/src/subject.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import {
  desk,
  type EngineLife,
  operator,
  type RiskEngineFixture,
  riskEngineFixture,
} from "../../../testkit/risk/service-fixture.ts";

const encoder = new TextEncoder();
let seed = 45_200;

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

function fillOf(fixture: RiskEngineFixture, n: number, differs: Partial<Fill> = {}): Fill {
  return {
    fill_id: `f-${n}`,
    order_id: "theirs",
    fund_id: "alpha",
    strategy_id: "alpha-momentum",
    symbol: "AAPL",
    side: "BUY",
    quantity: "10",
    price: "232.5",
    filled_at: format(fixture.time.clock.now()),
    sequence: n,
    ...differs,
  };
}

/** As it comes from NATS, under an id of its publisher's. */
async function fromNats<P>(fixture: RiskEngineFixture, id: string, subject: Subject<P>, payload: P): Promise<void> {
  const at = fixture.time.clock.now();
  const bytes = encoder.encode(JSON.stringify(payload));
  const event = { id, subject: subject.name, key: subject.key(payload), at, source: "foreign", bytes };
  fixture.tables.append([{ ...event, sequence: fixture.tables.nextSequence() }]);
  await fixture.pass(3_000);
  await fixture.putPrices();
}

/** As operations tells of what came over gRPC. */
async function told(
  fixture: RiskEngineFixture,
  differs: Partial<RefusedForeignEvent> = {},
  subject = subjects.foreignHeld,
): Promise<void> {
  const refused: RefusedForeignEvent = {
    source: "desk",
    event_id: "e-1",
    subject: subjects.fillsCreated.name,
    kind: "fills",
    fund_id: "alpha",
    number_used: false,
    code: "BUS_PAYLOAD_INVALID",
    reason: "side: Invalid option",
    payload: "{}",
    at: format(fixture.time.clock.now()),
    ...differs,
  };
  const operations = fixture.platform.processOf("operations");
  await fixture.finish(operations.store.transact("foreign.publish", (unit) => unit.events.publish(subject, refused)));
  await fixture.pass(3_000);
  await fixture.putPrices();
}

async function discardFirst(fixture: RiskEngineFixture): Promise<void> {
  const [held] = fixture.tables.parked.filter(({ state }) => state === "HELD");
  const how = { at: fixture.time.clock.now(), by: "operator:duty", reason: "sent again as it should be" };
  const { subscription = "", eventId = "" } = held ?? {};
  const work = fixture.outside.store.transact("discard", (unit) => unit.parked.discard(subscription, eventId, how));
  await fixture.finish(work);
  await fixture.pass(3_000);
  await fixture.putPrices();
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
const refusedAlarms = (fixture: RiskEngineFixture): readonly string[] =>
  fixture
    .published(subjects.alarmRaised)
    .filter(({ code }) => code === "EVENT_REFUSED")
    .map(({ sentence }) => sentence);
const parked = (fixture: RiskEngineFixture): readonly string[] =>
  fixture.tables.parked.map(({ subscription, subject, state }) => `${subscription} ${subject} ${state}`);
const lastOf = async (fixture: RiskEngineFixture, life: EngineLife, source: string, kind: string, fund_id = "alpha") =>
  (
    (await fixture.finish(life.call("GetForeignPosition", { source, fund_id }, operator))) as ForeignPosition
  ).positions.find((position) => position.kind === kind);

describe("a fill that was refused over gRPC and may be true", () => {
  it("keeps its fund from new risk over a kill, lets exits and other funds pass, alarms once, and ends when it is discarded", async () => {
    const [fixture, first] = await begin();
    await fromNats(fixture, "n-1", subjects.fillsCreated, fillOf(fixture, 1));
    await told(fixture);
    expect(await codeOf(fixture, first)).toBe("FILL_NOT_ACCEPTED");
    expect(await codeOf(fixture, first, { side: "SELL", reduce_only: true })).toBe("");
    const ofBeta = { fund_id: "beta", strategy_id: "beta-trend", symbol: "BTC-USD" };
    expect(await codeOf(fixture, first, ofBeta)).not.toBe("FILL_NOT_ACCEPTED");
    const [block] = await blocksOf(fixture, first);
    expect(block?.reason).toMatch(/desk published fill event e-1, which was refused: BUS_PAYLOAD_INVALID\. side: /);
    first.process.kill();
    const second = await fixture.start();
    await fixture.pass(40_000);
    await fixture.putPrices();
    expect((await blocksOf(fixture, second)).map(({ block_id }) => block_id)).toEqual([block?.block_id]);
    expect(refusedAlarms(fixture)).toEqual([expect.stringMatching(/^desk published .*fills\.created e-1: /)]);
    expect(parked(fixture)).toEqual(["riskengine.fills svc.v1.operations.foreign.held HELD"]);
    await discardFirst(fixture);
    expect([await codeOf(fixture, second), await blocksOf(fixture, second)]).toEqual(["", []]);
    await fixture.finish(second.service.stop());
  });

  it("uses up its number when it could be read, and else leaves it to what is sent in its place", async () => {
    const [fixture, life] = await begin();
    await told(fixture, { source: "foreign-oms", sequence: 1 });
    await discardFirst(fixture);
    expect(await lastOf(fixture, life, "foreign-oms", "fills")).toMatchObject({ missing: [] });
    await fromNats(fixture, "n-1", subjects.fillsCreated, fillOf(fixture, 1));
    await told(fixture, { source: "foreign-oms", sequence: 2, number_used: true, code: "EVENT_ID_REUSED" });
    await discardFirst(fixture);
    await fromNats(fixture, "n-3", subjects.fillsCreated, fillOf(fixture, 3));
    expect(await lastOf(fixture, life, "foreign-oms", "fills")).toMatchObject({ last_sequence: 3, missing: [] });
    expect([await codeOf(fixture, life), await heldOf(fixture, life)]).toEqual(["", "20"]);
    await fixture.finish(life.service.stop());
  });

  it("is believed of our own services alone; what is no fill is listed and blocks nobody", async () => {
    const [fixture, life] = await begin();
    await told(fixture, { kind: "values", subject: subjects.navUpdated.name }, subjects.foreignRefused);
    const forged = { source: "desk", event_id: "e-2", subject: "x", kind: "fills", fund_id: "alpha" } as const;
    const refused = { ...forged, number_used: false, code: "X", reason: "", payload: "", at: "2026-11-16T14:30:00Z" };
    await fromNats(fixture, "forged", subjects.foreignHeld, refused);
    expect(await codeOf(fixture, life)).toBe("");
    expect(parked(fixture)).toEqual(["riskengine.refused svc.v1.operations.foreign.refused PARKED"]);
    expect(refusedAlarms(fixture)).toHaveLength(1);
    await fixture.finish(life.service.stop());
  });
});

describe("an event id on NATS", () => {
  it("is its content: the same again is one event, another is refused, counted and listed, and a fill's fund waits", async () => {
    const [fixture, life] = await begin();
    const first = fillOf(fixture, 1);
    await fromNats(fixture, "n-1", subjects.fillsCreated, first);
    await fromNats(fixture, "n-1", subjects.fillsCreated, { ...first, quantity: "10.0" });
    expect([await codeOf(fixture, life), refusedAlarms(fixture)]).toEqual(["", []]);
    await fromNats(fixture, "n-1", subjects.fillsCreated, fillOf(fixture, 2, { quantity: "50" }));
    expect([await codeOf(fixture, life), await heldOf(fixture, life)]).toEqual(["FILL_NOT_ACCEPTED", "10"]);
    expect(refusedAlarms(fixture)).toEqual([
      expect.stringMatching(/^foreign-oms published \S+ n-1: EVENT_ID_REUSED\. /),
    ]);
    expect(parked(fixture)).toEqual([
      "riskengine.fills svc.v1.oms.fills.created PARKED",
      "riskengine.fills svc.v1.operations.foreign.held HELD",
    ]);
    await discardFirst(fixture);
    expect(await codeOf(fixture, life)).toBe("");
    expect(await lastOf(fixture, life, "foreign-oms", "fills")).toMatchObject({ last_sequence: 2, missing: [] });
    await fixture.finish(life.service.stop());
  });

  it("is its content over a kill; a value under one that was used is refused and blocks nobody", async () => {
    const [fixture, first] = await begin();
    const value = (sequence: number, nav: string): NavUpdated => ({
      fund_id: "beta",
      nav,
      currency: "USD",
      sequence,
      as_of: format(fixture.time.clock.now()),
    });
    await fromNats(fixture, "v-1", subjects.navUpdated, value(1, "2000000"));
    first.process.kill();
    const second = await fixture.start();
    await fromNats(fixture, "v-1", subjects.navUpdated, value(2, "20000000"));
    expect(refusedAlarms(fixture)).toEqual([expect.stringContaining("foreign-treasury used the id v-1")]);
    expect(parked(fixture)).toEqual(["riskengine.nav svc.v1.treasury.nav.updated PARKED"]);
    expect(await codeOf(fixture, second)).toBe("");
    expect(await lastOf(fixture, second, "foreign-treasury", "values", "beta")).toMatchObject({ last_sequence: 2 });
    await fixture.finish(second.service.stop());
  });
});

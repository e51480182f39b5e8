// 45.1 on the whole shell: what a login of NATS publishes that a token names is the token's, and is numbered by itself.
import { expect, it } from "vitest";
import type { Blocks, Exposures, ForeignPosition } from "../../../contracts/src/generated/svc/v1/riskengine.ts";
import { format } from "../../../contracts/src/instant.ts";
import type { Fill, FillBusted } from "../../../contracts/src/records/order.ts";
import type { ReferenceContents } from "../../../contracts/src/records/reference.ts";
import type { Subject } from "../../../contracts/src/subject.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { BusEvent } from "../../../ports/bus.ts";
import {
  desk,
  type EngineLife,
  type RiskEngineFixture,
  riskEngineFixture,
} from "../../../testkit/risk/service-fixture.ts";

const encoder = new TextEncoder();
let seed = 45_100;

async function begin(): Promise<[RiskEngineFixture, EngineLife]> {
  seed += 1;
  const fixture = await riskEngineFixture({ seed });
  const life = await fixture.start();
  await fixture.finish(life.check({ order_id: "theirs", quantity: "100" }, desk));
  return [fixture, life];
}

function fillOf(fixture: RiskEngineFixture, n: number, sequence: number): Fill {
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
    sequence,
  };
}

function bustOf(fixture: RiskEngineFixture, n: number, sequence: number): FillBusted {
  const { fill_id, order_id, fund_id, strategy_id, symbol } = fillOf(fixture, n, sequence);
  const at = format(fixture.time.clock.now());
  return { bust_id: `b-${n}`, fill_id, order_id, fund_id, strategy_id, symbol, reason: "erroneous", at, sequence };
}

/** As the bus hands it over: in the token's name, with the login under which it came. */
async function heard<P>(
  fixture: RiskEngineFixture,
  from: Pick<BusEvent, "source" | "login" | "funds" | "isRevoked">,
  subject: Subject<P>,
  payload: P,
): Promise<void> {
  const at = fixture.time.clock.now();
  const bytes = encoder.encode(JSON.stringify(payload));
  const event = { id: fixture.time.prng.uuid(), subject: subject.name, key: subject.key(payload), at, ...from, bytes };
  fixture.tables.append([{ ...event, sequence: fixture.tables.nextSequence() }]);
  await fixture.pass(500);
  await fixture.putPrices();
}

const lastOf = async (fixture: RiskEngineFixture, life: EngineLife, source: string) =>
  ((await fixture.finish(life.call("GetForeignPosition", { source, fund_id: "alpha" }))) as ForeignPosition)
    .positions[1]?.last_sequence;
const heldOf = async (fixture: RiskEngineFixture, life: EngineLife): Promise<string> =>
  ((await fixture.finish(life.call("ListExposures", {}))) as Exposures).lines.find(
    ({ fund_id, symbol }) => fund_id === "alpha" && symbol === "AAPL",
  )?.quantity ?? "0";
const refused = (fixture: RiskEngineFixture) =>
  fixture.published(subjects.alarmRaised).flatMap(({ code, sentence }) => (code === "EVENT_REFUSED" ? [sentence] : []));

const grpc = { source: "desk" };
const nats = { source: "desk", login: "desk-1" };

it("counts each way in by itself, and takes a fill back by whichever of them", async () => {
  const [fixture, life] = await begin();
  await heard(fixture, grpc, subjects.fillsCreated, fillOf(fixture, 1, 1));
  await heard(fixture, nats, subjects.fillsCreated, fillOf(fixture, 2, 1));
  await heard(fixture, nats, subjects.fillsBusted, bustOf(fixture, 1, 2));
  await heard(fixture, grpc, subjects.fillsBusted, bustOf(fixture, 2, 2));
  expect([refused(fixture), await heldOf(fixture, life)]).toEqual([[], "0"]);
  expect(await lastOf(fixture, life, "desk")).toBe(2);
  expect(await lastOf(fixture, life, "foreign.desk-1")).toBe(2);
  expect(fixture.published(subjects.alarmRaised).filter(({ code }) => code === "EVENT_GAP")).toEqual([]);
  await fixture.finish(life.service.stop());
});

it("takes back what the login published before a token named it, and nobody else's", async () => {
  const [fixture, life] = await begin();
  const nobodys = { order_id: "nobody-asked" };
  const before = { source: "foreign.desk-1", login: "desk-1" };
  const other = { source: "foreign.other", login: "other" };
  await heard(fixture, before, subjects.fillsCreated, { ...fillOf(fixture, 1, 1), ...nobodys });
  await heard(fixture, other, subjects.fillsCreated, { ...fillOf(fixture, 2, 1), ...nobodys });
  expect(await heldOf(fixture, life)).toBe("20");
  await heard(fixture, nats, subjects.fillsBusted, { ...bustOf(fixture, 1, 2), ...nobodys });
  expect([refused(fixture), await heldOf(fixture, life)]).toEqual([[], "10"]);
  await heard(fixture, nats, subjects.fillsBusted, { ...bustOf(fixture, 2, 3), ...nobodys });
  expect(refused(fixture)).toEqual([expect.stringMatching(/^desk published .*: EVENT_BUST_NOT_YOURS/)]);
  expect(await heldOf(fixture, life)).toBe("10");
  await fixture.finish(life.service.stop());
});

it("speaks of no fund that the token does not name", async () => {
  const [fixture, life] = await begin();
  await heard(fixture, { ...nats, funds: ["beta"] }, subjects.fillsCreated, fillOf(fixture, 1, 1));
  expect(refused(fixture)).toEqual([expect.stringMatching(/^desk published .*: EVENT_FUND_NOT_YOURS/)]);
  await heard(fixture, { ...nats, funds: ["alpha"] }, subjects.fillsCreated, fillOf(fixture, 2, 1));
  expect(refused(fixture)).toHaveLength(1);
  expect(await lastOf(fixture, life, "foreign.desk-1")).toBe(1);
  await fixture.finish(life.service.stop());
});

it("speaks of nothing any more when the token is revoked, and is told", async () => {
  const [fixture, life] = await begin();
  const revoked = { ...nats, isRevoked: true } as const;
  await heard(fixture, revoked, subjects.fillsCreated, fillOf(fixture, 1, 1));
  expect(refused(fixture)).toEqual([expect.stringMatching(/^desk published .*: EVENT_TOKEN_REVOKED\. .* desk-1 /)]);
  expect(fixture.tables.parked.map(({ subscription, state }) => [subscription, state])).toEqual([
    ["riskengine.fills", "PARKED"],
  ]);
  expect([await heldOf(fixture, life), await lastOf(fixture, life, "foreign.desk-1")]).toEqual(["0", undefined]);
  expect(((await fixture.finish(life.call("ListBlocks", {}))) as Blocks).blocks.filter((one) => one.fund_id)).toEqual(
    [],
  );
  await fixture.finish(life.service.stop());
});

it("a gap in the values of a login blocks the fund that its token values", async () => {
  const valuedByThem = (seeded: ReferenceContents): ReferenceContents => ({
    ...seeded,
    funds: seeded.funds.map((fund) => (fund.fund_id === "beta" ? { ...fund, valued_by: "desk" } : fund)),
  });
  const fixture = await riskEngineFixture({ seed: 45_190, reference: valuedByThem });
  const life = await fixture.start();
  for (const sequence of [1, 3]) {
    const value = { fund_id: "beta", nav: "2000000", currency: "USD", strategy_pnl: {}, sequence };
    await heard(fixture, nats, subjects.navUpdated, { ...value, as_of: format(fixture.time.clock.now()) });
  }
  await fixture.pass(4_000);
  const { blocks } = (await fixture.finish(life.call("ListBlocks", {}))) as Blocks;
  expect(blocks.flatMap(({ gap }) => gap ?? [])).toMatchObject([
    { source: "foreign.desk-1", kind: "values", missing: ["2"] },
  ]);
  await fixture.finish(life.service.stop());
});

it("an id of a login is its content, also where a token speaks through it", async () => {
  const [fixture, life] = await begin();
  const say = async (n: number) => {
    const payload = fillOf(fixture, n, n);
    const bytes = encoder.encode(JSON.stringify(payload));
    const at = fixture.time.clock.now();
    const event = { id: "desk-1:same", subject: subjects.fillsCreated.name, key: "alpha", at, ...nats, bytes };
    fixture.tables.append([{ ...event, sequence: fixture.tables.nextSequence() }]);
    await fixture.pass(500);
  };
  await say(1);
  await say(2);
  expect(refused(fixture)).toEqual([expect.stringMatching(/EVENT_ID_REUSED/)]);
  await fixture.finish(life.service.stop());
});

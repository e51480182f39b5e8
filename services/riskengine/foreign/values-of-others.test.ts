// Whose values count, on the whole shell: those of the source that the fund names, and of nobody else; a LIVE fund that names nobody takes no new risk.
import { expect, it } from "vitest";
import type { Blocks } from "../../../contracts/src/generated/svc/v1/riskengine.ts";
import { format } from "../../../contracts/src/instant.ts";
import type { FundReference, ReferenceContents } from "../../../contracts/src/records/reference.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { type EngineLife, type RiskEngineFixture, riskEngineFixture } from "../../../testkit/risk/service-fixture.ts";

let seed = 45_300;

const withAlpha =
  (differs: Partial<FundReference>) =>
  (seeded: ReferenceContents): ReferenceContents => ({
    ...seeded,
    funds: seeded.funds.map((fund) => (fund.fund_id === "alpha" ? { ...fund, ...differs } : fund)),
  });

async function begin(differs: Partial<FundReference> = {}): Promise<[RiskEngineFixture, EngineLife]> {
  seed += 1;
  const fixture = await riskEngineFixture({ seed, reference: withAlpha(differs) });
  return [fixture, await fixture.start()];
}

/** As a program with a token publishes it, or one on NATS. */
async function value(fixture: RiskEngineFixture, source: string, nav: string, sequence: number): Promise<void> {
  const as_of = format(fixture.time.clock.now());
  const payload = { fund_id: "alpha", nav, currency: "USD", as_of, sequence };
  const publisher = fixture.platform.processOf(source as "oms");
  await fixture.finish(
    publisher.store.transact("outside", (unit) => unit.events.publish(subjects.navUpdated, payload)),
  );
  await fixture.pass(1_000);
}

const navOf = async (fixture: RiskEngineFixture, life: EngineLife): Promise<string | undefined> =>
  (await fixture.finish(life.ports.riskStore.navs())).find(({ fund_id: id }) => id === "alpha")?.nav;
const refused = (fixture: RiskEngineFixture): readonly string[] =>
  fixture.published(subjects.alarmRaised).flatMap(({ code, sentence }) => (code === "EVENT_REFUSED" ? [sentence] : []));

it("of a PAPER fund is treasury's: a stranger's changes no NAV, is told once a minute, and blocks nobody", async () => {
  const [fixture, life] = await begin();
  for (const sequence of [1, 2, 4, 9]) await value(fixture, "stranger", "100000000", sequence);
  await fixture.pass(5_000);
  expect(await navOf(fixture, life)).toBe("10000000");
  expect((await fixture.finish(life.check({ quantity: "10" }))).code).toBe("");
  expect(fixture.tables.parked).toEqual([]);
  expect(refused(fixture)).toEqual([
    expect.stringMatching(
      /^stranger published 1 event of values of alpha \(.*EVENT_VALUE_NOT_YOURS. alpha is valued by treasury, /,
    ),
  ]);
  // When the minute ends, whether or not there is another.
  await fixture.pass(60_000);
  expect(refused(fixture).slice(1)).toEqual([
    expect.stringMatching(/^stranger published 3 events of values of alpha /),
  ]);
  await fixture.finish(life.service.stop());
});

it("is the named source's alone, also of a PAPER fund: treasury's own counts no more", async () => {
  const [fixture, life] = await begin({ valued_by: "desk" });
  expect(await navOf(fixture, life)).toBeUndefined();
  await value(fixture, "desk", "9000000", 1);
  await fixture.putPrices();
  expect(await navOf(fixture, life)).toBe("9000000");
  expect(refused(fixture)).toEqual([]);
  // A hole in its numbers is one in ours.
  await value(fixture, "desk", "9000000", 5);
  await fixture.pass(5_000);
  expect((await fixture.finish(life.check({ quantity: "10" }))).code).toBe("FILL_NOT_ACCEPTED");
  await fixture.finish(life.service.stop());
});

it("of a LIVE fund that names nobody is nobody's: new risk is denied with the command, exits are not, and a name ends it", async () => {
  const [fixture, life] = await begin({ mode: "LIVE" });
  await value(fixture, "desk", "9000000", 1);
  expect(refused(fixture)).toEqual([expect.stringContaining("The fund names no source of its values")]);
  const { code, reason } = await fixture.finish(life.check({ quantity: "10" }));
  expect([code, reason]).toEqual([
    "VALUER_MISSING",
    expect.stringContaining("ctl treasury reference set --kind funds"),
  ]);
  const { blocks } = (await fixture.finish(life.call("ListBlocks", {}))) as Blocks;
  expect(blocks.find((block) => block.code === "VALUER_MISSING")).toMatchObject({ fund_id: "alpha", scope: "fund" });
  const { funds, versions } = await fixture.finish(life.ports.referenceData.read());
  const content = withAlpha({ mode: "LIVE", valued_by: "desk" })({ funds } as ReferenceContents).funds;
  const set = { setBy: "x", setAt: fixture.time.clock.now(), reason: "", hash: "" };
  const naming = fixture.outside.store.transact("reference", (unit) =>
    unit.reference.put({ kind: "funds", version: versions.funds + 1, content, ...set }),
  );
  await fixture.finish(naming);
  await fixture.pass(2_000);
  await value(fixture, "desk", "9000000", 2);
  expect((await fixture.finish(life.check({ quantity: "10" }))).code).not.toBe("VALUER_MISSING");
  expect(await navOf(fixture, life)).toBe("9000000");
  await fixture.finish(life.service.stop());
});

// Rates that jump, over a start of the engine.
import { expect, test } from "vitest";
import type { Blocks } from "../../../contracts/src/generated/svc/v1/riskengine.ts";
import { format } from "../../../contracts/src/instant.ts";
import type { FxRate } from "../../../contracts/src/records/reference.ts";
import { type EngineLife, type RiskEngineFixture, riskEngineFixture } from "../../../testkit/risk/service-fixture.ts";

async function putRate({ outside, time, finish }: RiskEngineFixture, version: number, rate: string): Promise<void> {
  const at = time.clock.now();
  const content: readonly FxRate[] = [{ base: "EUR", quote: "USD", rate, as_of: format(at) }];
  const about = { kind: "fx", version, setBy: "service:test", setAt: at, reason: "a slip", hash: "" } as const;
  await finish(outside.store.transact("reference", (unit) => unit.reference.put({ ...about, content })));
}

async function waiting(fixture: RiskEngineFixture, life: EngineLife): Promise<readonly (string | undefined)[]> {
  const { blocks } = (await fixture.finish(life.call("ListBlocks", {}))) as Blocks;
  const isOfRate = ({ code, reason }: Blocks["blocks"][number]) =>
    code === "PRICE_NOT_VOUCHED" && reason.includes("the rate EUR/USD moved between 1.085 and 108.5");
  return [...new Set(blocks.filter(isOfRate).map(({ symbol }) => symbol))];
}

test("a rate that jumped just before a start has jumped after it, and is believed when it has stood", async () => {
  const fixture = await riskEngineFixture({
    seed: 45_950,
    reference: (seeded) => ({
      ...seeded,
      instruments: seeded.instruments.map((one) => (one.symbol === "XOM" ? { ...one, currency: "EUR" } : one)),
    }),
  });
  const first = await fixture.start();
  await fixture.pass(20_000);
  await putRate(fixture, 2, "108.5");
  await fixture.pass(1_500);
  expect(await waiting(fixture, first)).toEqual(["XOM"]);
  first.process.kill();
  const next = await fixture.start({ inSilence: true });
  expect(await waiting(fixture, next)).toEqual(["XOM"]);
  await fixture.pass(3_000);
  await fixture.putPrices();
  await fixture.pass(3_000);
  await fixture.putPrices();
  expect(await waiting(fixture, next)).toEqual([]);
  next.process.kill();
  const last = await fixture.start({ inSilence: true });
  expect(await waiting(fixture, last)).toEqual([]);
});

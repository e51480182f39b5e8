// The whole platform in virtual time with its first positions and nobody who trades by himself, for tests of one thing that happens to it.
import { parse } from "../contracts/src/instant.ts";
import type { CorporateActionChanged } from "../contracts/src/records/corporate-action.ts";
import { subjects } from "../contracts/src/subjects.ts";
import { seedPositions } from "../services/oms/seed-positions.ts";
import { testSettings } from "../testkit/virtual/memory-platform.ts";
import { scheduler } from "../testkit/virtual/scheduler.ts";
import { faults } from "./faults.ts";
import { firstHoldings } from "./outside.ts";
import { operatorIdentity, platform } from "./platform.ts";

export async function openedPlatform(seed: number) {
  const time = scheduler({ seed, startAt: parse("2026-11-18T15:00:00Z") });
  const settings = { ...testSettings, stops: { ...testSettings.stops, othersEveryMs: 1_000 } };
  const made = platform({ time, faults: faults(time.prng.fork("weather")), settings });
  made.start();
  made.retire("research");
  const reported = <Payload>(subject: { readonly name: string }): Payload[] =>
    made.tables.log
      .filter((entry) => entry.subject === subject.name)
      .map(({ bytes }) => JSON.parse(new TextDecoder().decode(bytes)) as Payload);
  const pass = (ms: number) => time.run({ untilMs: time.elapsedMs() + ms });
  async function until(holds: () => boolean, ms: number): Promise<boolean> {
    for (const end = time.elapsedMs() + ms; time.elapsedMs() < end; await pass(50)) if (holds()) return true;
    return holds();
  }
  async function ask<Answer>(service: string, method: string, request: object, as = operatorIdentity("duty")) {
    const outcome = await time.finish(method, made.ask(as)(service, method, request));
    return (outcome.ok ? outcome.value : outcome) as Answer;
  }
  while (made.running().length < 4) await pass(100);
  await pass(3_000);
  await time.finish("the positions", seedPositions({ ...made.bystander("oms"), settings }));
  const broker = made.outside.connect();
  await time.finish("the broker", broker.begin(firstHoldings()));
  await pass(5_000);
  const states = () => reported<CorporateActionChanged>(subjects.corporateActionChanged).map(({ state }) => state);
  return { time, made, reported, pass, until, ask, broker, states };
}

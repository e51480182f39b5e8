// The whole platform in virtual time: an approval that is released between its decision and its sending is either released and never sent, or sent
// and never released, whatever comes first.
import { afterAll, beforeAll, expect, it } from "vitest";
import type { OrderStatus } from "../contracts/src/generated/svc/v1/platform.ts";
import type { Approval } from "../contracts/src/generated/svc/v1/riskengine.ts";
import { parse } from "../contracts/src/instant.ts";
import type { AlarmRaised } from "../contracts/src/records/platform.ts";
import { subjects } from "../contracts/src/subjects.ts";
import type { Outcome } from "../ports/identity.ts";
import { seedPositions } from "../services/oms/seed-positions.ts";
import { ignoreEndedIncarnations } from "../testkit/virtual/incarnation.ts";
import { testSettings } from "../testkit/virtual/memory-platform.ts";
import { scheduler } from "../testkit/virtual/scheduler.ts";
import { faults } from "./faults.ts";
import { firstHoldings } from "./outside.ts";
import { operatorIdentity, platform } from "./platform.ts";

let restore: () => void;
beforeAll(() => {
  restore = ignoreEndedIncarnations();
});
afterAll(() => restore());

/** How long an answer is under way. */
const answerMs = 20;

async function begin(seed: number) {
  const time = scheduler({ seed, startAt: parse("2026-11-18T15:00:00Z") });
  const settings = { ...testSettings, market: { ...testSettings.market, quoteEveryMs: 1_000 } };
  const network = { ms: 0 };
  const fair = { ...faults(time.prng.fork("weather")), networkMs: () => network.ms };
  const made = platform({ time, faults: fair, settings });
  made.start();
  made.retire("research");
  const pass = (ms: number) => time.run({ untilMs: time.elapsedMs() + ms });
  while (made.running().length < 4) await pass(100);
  await pass(3_000);
  await time.finish("the positions", seedPositions({ ...made.bystander("oms"), settings }));
  await time.finish("the broker", made.outside.connect().begin(firstHoldings()));
  await pass(3_000);
  const reported = <Payload>({ name }: { readonly name: string }): Payload[] =>
    made.tables.log
      .filter(({ subject }) => subject === name)
      .map(({ bytes }) => JSON.parse(new TextDecoder().decode(bytes)) as Payload);
  const ask = made.ask(operatorIdentity("duty"));
  network.ms = answerMs;
  return { made, time, pass, reported, ask, network };
}

type Run = Awaited<ReturnType<typeof begin>>;

function orderOf({ made }: Run, id: string): object {
  const { bid } = made.outside.bidAsk("MSFT");
  const rest = { fund_id: "alpha", strategy_id: "alpha-momentum", symbol: "MSFT", side: "BUY", quantity: "10" };
  const terms = { order_type: "LIMIT", tif: "GTC", broker: "paper", asset_class: "EQUITY", actor: "test" };
  return { ...rest, ...terms, order_id: id, idempotency_key: `key-${id}`, limit_price: (bid * 0.97).toFixed(2) };
}

const isApproved = ({ made }: Run, id: string): boolean =>
  made.tables.risk.journal.some(({ kind, orderId, approved }) => kind === "decision" && orderId === id && approved);

it("22.2: an approval that is released before it is sent is not sent, and one that is sent is not released", {
  timeout: 120_000,
}, async () => {
  const run = await begin(222);
  const { made, time, ask, network } = run;
  const seen = { released: 0, sent: 0 };
  // Until the answer has come and the order is let out; the store takes its time with both.
  for (const late of [0, 10, 18, 20, 21, 22, 24, 30]) {
    const id = `gap-${late}`;
    const submitting = ask("Oms", "SubmitOrder", orderOf(run, id)) as Promise<Outcome<OrderStatus>>;
    for (let steps = 0; !isApproved(run, id); steps += 1) {
      expect(steps, made.tables.oms.orders.get(id)?.reason).toBeLessThan(10_000);
      await time.run({ stepsMax: 1 });
    }
    network.ms = late;
    const releasing = ask("RiskEngine", "ReleaseApproval", { order_id: id, reason: "not sent" });
    network.ms = answerMs;
    const released = (await time.finish("the release", releasing)) as Outcome<Approval>;
    await time.finish("the order", submitting);
    await run.pass(200);
    const stored = made.tables.oms.orders.get(id);
    if (released.ok) {
      seen.released += 1;
      expect(released.value, id).toMatchObject({ state: "RELEASED", reserved_quantity: "0" });
      expect(stored, id).toMatchObject({ state: "REJECTED", code: "APPROVAL_RELEASED" });
      expect(made.outside.open.has(id), id).toBe(false);
    } else {
      seen.sent += 1;
      expect(released.denial.code, id).toBe("APPROVAL_SENT");
      expect(stored?.state, id).toBe("WORKING");
    }
  }
  expect(run.reported<AlarmRaised>(subjects.alarmRaised).filter(({ code }) => code === "SENT_AFTER_EXPIRY")).toEqual(
    [],
  );
  expect(seen.released).toBeGreaterThan(0);
  expect(seen.sent).toBeGreaterThan(0);
});

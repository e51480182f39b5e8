// The whole platform in virtual time: one halted symbol does not switch a fund's loss limit off, no deposit erases a loss, and no money leaves that
// the limits need.

import { afterAll, beforeAll, expect, it } from "vitest";
import { peersOver } from "../adapters/peers/peers.ts";
import type { OrderStatus } from "../contracts/src/generated/svc/v1/platform.ts";
import type { Losses } from "../contracts/src/generated/svc/v1/riskengine.ts";
import { parse } from "../contracts/src/instant.ts";
import type { NavUpdated } from "../contracts/src/records/fund.ts";
import { subjects } from "../contracts/src/subjects.ts";
import type { Outcome } from "../ports/identity.ts";
import { seedPositions } from "../services/oms/seed-positions.ts";
import { paperPositions } from "../services/shared/paper-seeds.ts";
import { flowAction } from "../services/treasury/book-flow.ts";
import { giveProof } from "../testkit/memory/units/step-up.ts";
import { ignoreEndedIncarnations } from "../testkit/virtual/incarnation.ts";
import { testSettings } from "../testkit/virtual/memory-platform.ts";
import { scheduler } from "../testkit/virtual/scheduler.ts";
import { faults } from "./faults.ts";
import { firstHoldings } from "./outside.ts";
import { operatorIdentity, platform, serviceIdentity } from "./platform.ts";

let restore: () => void;
beforeAll(() => {
  restore = ignoreEndedIncarnations();
});
afterAll(() => restore());

async function begin(seed: number) {
  const time = scheduler({ seed, startAt: parse("2026-11-18T15:00:00Z") });
  const settings = {
    ...testSettings,
    risk: { ...testSettings.risk, navAgeMsMax: 15_000, lossValueAgeMsMax: 15_000 },
    market: { ...testSettings.market, quoteEveryMs: 1_000 },
  };
  const made = platform({ time, faults: faults(time.prng.fork("weather")), settings });
  made.start();
  made.retire("research");
  const asOperator = made.ask(operatorIdentity("duty"));
  const ask = (service: string, method: string, request: object): Promise<Outcome<unknown>> =>
    time.finish(method, asOperator(service, method, request));
  const pass = (ms: number) => time.run({ untilMs: time.elapsedMs() + ms });
  const navs = (): NavUpdated[] =>
    made.tables.log
      .filter(({ subject }) => subject === subjects.navUpdated.name)
      .map(({ bytes }) => JSON.parse(new TextDecoder().decode(bytes)) as NavUpdated)
      .filter(({ fund_id: id }) => id === "alpha");
  while (made.running().length < 4) await pass(100);
  await pass(3_000);
  await time.finish("the positions", seedPositions({ ...made.bystander("oms"), settings }));
  await time.finish("the broker", made.outside.connect().begin(firstHoldings()));
  for (let waited = 0; Number(navs().at(-1)?.positions_value ?? "0") <= 0; waited += 100) {
    expect(waited).toBeLessThan(10_000);
    await pass(100);
  }
  await pass(3_000);
  let flows = 0;
  return {
    made,
    time,
    pass,
    navs,
    ask,
    halts: () => made.tables.risk.halts.filter(({ fund_id: id }) => id === "alpha"),
    check: async (order: object) => {
      const { riskChecks } = peersOver(made.ask(serviceIdentity("oms")));
      return time.finish("the check", riskChecks.check(orderOf(order) as never));
    },
    submit: async (order: object) => (await ask("Oms", "SubmitOrder", orderOf(order))) as Outcome<OrderStatus>,
    stateOf: async (id: string): Promise<string> => {
      const found = await ask("Oms", "GetOrder", { order_id: id });
      return found.ok ? (found.value as OrderStatus).state : "";
    },
    dailyLoss: async () => {
      const outcome = await ask("RiskEngine", "ListLosses", { fund_id: "alpha" });
      return outcome.ok ? (outcome.value as Losses).losses.find(({ limit }) => limit === "daily") : undefined;
    },
    flow: (amount: number): object => {
      flows += 1;
      const rest = { currency: "USD", reason: "a test", idempotency_key: `flow-${flows}` };
      const flow = { fund_id: "alpha", amount: amount.toFixed(2), ...rest };
      const named = flowAction(flow, flow.reason);
      const asked = { identity: operatorIdentity("duty"), named, at: time.clock.now() };
      return { ...flow, step_up_proof: giveProof(made.tables.stepUps, asked) };
    },
  };
}

function orderOf(differs: object): object {
  const rest = { fund_id: "alpha", strategy_id: "alpha-momentum", symbol: "MSFT", side: "BUY", quantity: "10" };
  const terms = { order_type: "LIMIT", tif: "GTC", broker: "paper", asset_class: "EQUITY", actor: "test" };
  const { order_id: id } = differs as { readonly order_id?: string };
  return { ...rest, ...terms, idempotency_key: `key-${id}`, ...differs };
}

it("23.6: with one halted symbol new risk is denied, what rests and adds risk is cancelled, the others' loss halts, and a deposit erases nothing", async () => {
  const run = await begin(236);
  const { outside } = run.made;
  const { bid, ask } = outside.bidAsk("MSFT");
  expect(await run.submit({ order_id: "rests", limit_price: (bid * 0.96).toFixed(2) })).toMatchObject({ ok: true });
  const exit = { order_id: "exit", side: "SELL", reduce_only: true, limit_price: (ask * 1.04).toFixed(2) };
  expect(await run.submit(exit)).toMatchObject({ ok: true, value: { state: "WORKING" } });
  expect(await run.stateOf("rests")).toBe("WORKING");

  outside.haltSymbols(["AAPL"]);
  await run.pass(20_000);
  const denied = await run.check({ order_id: "asked", limit_price: bid.toFixed(2) });
  expect(denied.approved).toBe(false);
  expect(await run.dailyLoss()).toMatchObject({ state: "NOT_JUDGED", reason: expect.stringContaining("AAPL") });
  expect(await run.stateOf("rests")).toBe("WORKING");
  await run.pass(65_000);
  expect([await run.stateOf("rests"), await run.stateOf("exit")]).toEqual(["CANCELLED", "WORKING"]);

  const before = run.navs().at(-1);
  const quiet = Object.entries(before?.prices ?? {}).filter(([symbol]) => symbol !== "AAPL");
  const held = quiet.reduce((sum, [, { quantity, price }]) => sum + Number(quantity) * Number(price), 0);
  const pct = (-0.025 * Number(before?.nav)) / held;
  const symbols = new Set(paperPositions.filter(({ fundId }) => fundId === "alpha").map(({ symbol }) => symbol));
  for (const symbol of symbols) if (symbol !== "AAPL") outside.gap(symbol, pct);
  await run.pass(5_000);
  expect(run.halts().map(({ severity }) => severity)).toContain("FUND_HALT");
  expect(run.halts().some(({ evidence }) => evidence?.["limit"] === "daily")).toBe(true);

  expect(await run.ask("Treasury", "BookFlow", run.flow(100_000_000))).toMatchObject({ ok: true });
  await run.pass(5_000);
  expect(await run.dailyLoss()).toMatchObject({ state: "BREACHED", loss_pct: expect.closeTo(0.025, 2) });
  expect((await run.check({ order_id: "more", limit_price: bid.toFixed(2) })).approved).toBe(false);
});

it("23.7: no money leaves that the limits need, two that do not fit together do not both pass, and a halt keeps all of it", async () => {
  const run = await begin(237);
  const withdraw = (amount: number) => run.ask("Treasury", "BookFlow", run.flow(-amount));
  const nav = Number(run.navs().at(-1)?.nav);
  const refused = await withdraw(nav);
  if (refused.ok) throw new Error("all of the fund was withdrawn");
  expect(["FLOW_LIMIT_EXCEEDED", "FLOW_CASH_SHORT"]).toContain(refused.denial.code);
  const most = Number(/^At most ([\d.]+) USD/.exec(refused.denial.reason)?.[1]);
  expect(most).toBeGreaterThan(0.1 * nav);

  const asOperator = run.made.ask(operatorIdentity("duty"));
  const both = [run.flow(-0.6 * most), run.flow(-0.6 * most)].map((flow) => asOperator("Treasury", "BookFlow", flow));
  const outcomes = await run.time.finish("both", Promise.all(both));
  expect(outcomes.map(({ ok }) => ok).sort()).toEqual([false, true]);
  await run.pass(2_000);
  const left = Number(run.navs().at(-1)?.nav);
  expect(left / (nav - 0.6 * most)).toBeCloseTo(1, 2);
  // One that is booked already is answered again; another does not fit.
  expect(await withdraw(0.5 * most)).toMatchObject({
    ok: false,
    denial: { reason: expect.stringContaining("At most ") },
  });

  const halt = {
    severity: "FUND_HALT",
    fund_id: "alpha",
    reason: "a test",
    requested_by: "operator:duty",
    confirmation: "HALT",
  };
  expect(await run.ask("Operations", "RequestHalt", halt)).toMatchObject({ ok: true });
  expect(await withdraw(1)).toMatchObject({ ok: false, denial: { code: "FLOW_HALTED" } });
  expect(await run.ask("Treasury", "BookFlow", run.flow(1))).toMatchObject({ ok: true });
});

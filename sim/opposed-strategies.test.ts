// The whole platform in virtual time, without faults but for kills: a halted strategy tries to sell what another one holds, and a stop whose fund holds the other
// side in another strategy is closed all the same.
import { afterAll, beforeAll, expect, it } from "vitest";
import { peersOver } from "../adapters/peers/peers.ts";
import * as decimal from "../contracts/src/decimal.ts";
import type { Exposures } from "../contracts/src/generated/svc/v1/riskengine.ts";
import type { StopEnded } from "../contracts/src/records/operations.ts";
import type { Fill, Order } from "../contracts/src/records/order.ts";
import { subjects } from "../contracts/src/subjects.ts";
import { seedPositions } from "../services/oms/seed-positions.ts";
import { seedEnvelopes } from "../services/riskengine/seed-envelopes.ts";
import type { ServiceName } from "../services/shared/service.ts";
import { seedTreasury } from "../services/treasury/seed-treasury.ts";
import { byFloor } from "../testkit/full-count.ts";
import { ignoreEndedIncarnations } from "../testkit/virtual/incarnation.ts";
import { testSettings } from "../testkit/virtual/memory-platform.ts";
import { scheduler } from "../testkit/virtual/scheduler.ts";
import { faults } from "./faults.ts";
import { fold, history, readReported } from "./history.ts";
import { booksApart } from "./invariants/books.ts";
import { firstHoldings } from "./outside.ts";
import { operatorIdentity, platform, serviceIdentity } from "./platform.ts";

let restore: () => void;
beforeAll(() => {
  restore = ignoreEndedIncarnations();
});
afterAll(() => restore());

const holder = "alpha-momentum";
const other = "alpha-meanrev";

async function running(seed: number) {
  const time = scheduler({ seed });
  const stops = { ...testSettings.stops, othersEveryMs: 2_000 };
  const settings = { ...testSettings, seedPaperPlatform: true, stops };
  const made = platform({ time, faults: faults(time.prng.fork("weather")), settings });
  const setUp = async (): Promise<void> => {
    const ports = { ...made.bystander("oms"), settings };
    await seedTreasury(ports);
    await seedEnvelopes(ports);
    await seedPositions(ports);
    await made.outside.connect().begin(firstHoldings());
  };
  await time.finish("the setup", setUp());
  made.start();
  made.retire("research");
  const pass = (ms: number) => time.run({ untilMs: time.elapsedMs() + ms });
  const until = async (what: string, holds: () => boolean, msMax = 60_000): Promise<void> => {
    for (const end = time.elapsedMs() + msMax; !holds(); await pass(50)) {
      if (time.elapsedMs() > end) throw new Error(`waited in vain: ${what}`);
    }
  };
  await until("everybody runs", () => made.running().length === 4);
  await pass(3_000);
  const { orderManagement } = peersOver(made.ask(serviceIdentity("operations")));
  const reported = <Payload>(subject: { readonly name: string }): Payload[] =>
    made.tables.log
      .filter((entry) => entry.subject === subject.name)
      .map(({ bytes }) => JSON.parse(new TextDecoder().decode(bytes)) as Payload);
  return {
    made,
    pass,
    until,
    reported,
    /** What order management makes of an exit of that strategy: the state and the code in the end. */
    async exit(id: string, strategyId: string, quantity: string, differs: Partial<Order> = {}) {
      const order = {
        idempotency_key: id,
        order_id: id,
        fund_id: "alpha",
        strategy_id: strategyId,
        symbol: "AAPL",
        side: "SELL",
        quantity,
        order_type: "MARKET",
        tif: "GTC",
        broker: "paper",
        asset_class: "EQUITY",
        actor: "test",
        reduce_only: true,
        ...differs,
      } as Order;
      await time.finish("the order", orderManagement.submit(order));
      const state = () => made.tables.oms.orders.get(id)?.state ?? "";
      await until(`${id} ends`, () => ["FILLED", "REJECTED"].includes(state()));
      return [state(), made.tables.oms.orders.get(id)?.code ?? ""];
    },
    async halt(strategyId: string): Promise<void> {
      const scope = { severity: "STRATEGY_HALT", strategy_id: strategyId, fund_id: "" };
      const asked = { ...scope, reason: "drill", requested_by: "", confirmation: "HALT" };
      await time.finish("the halt", made.ask(operatorIdentity("duty"))("Operations", "RequestHalt", asked));
      await pass(500);
    },
    held: () =>
      Object.fromEntries(
        [...made.tables.oms.positions.values()]
          .filter(({ symbol }) => symbol === "AAPL")
          .map(({ strategyId, quantity }) => [strategyId, decimal.format(quantity)]),
      ),
    async exposed(): Promise<string> {
      const asking = made.ask(serviceIdentity("operations"))("RiskEngine", "ListExposures", {});
      const outcome = await time.finish("the exposures", asking);
      const lines = outcome.ok ? (outcome.value as Exposures).lines : [];
      return lines.find(({ fund_id: fundId, symbol }) => fundId === "alpha" && symbol === "AAPL")?.quantity ?? "0";
    },
    atBroker: () =>
      decimal.format([...made.outside.held.values()].find(({ symbol }) => symbol === "AAPL")?.quantity ?? decimal.zero),
  };
}

it("23.3: a halted strategy does not sell what another one of its fund holds, and sells what it holds itself", async () => {
  const it = await running(2_301);
  await it.halt(other);
  expect(await it.exit("against", other, "400")).toEqual(["REJECTED", "STRATEGY_REDUCTION_UNPROVEN"]);
  expect(it.held()).toEqual({ [holder]: "1000" });
  expect(await it.exit("short", holder, "400", { side: "SELL_SHORT" })).toEqual([
    "REJECTED",
    "SCHEMA_SHORT_NOT_REDUCING",
  ]);
  expect(await it.exit("bought", holder, "1", { side: "BUY" })).toEqual(["REJECTED", "SCHEMA_REDUCE_ONLY_UNPROVEN"]);
  await it.halt(holder);
  expect(await it.exit("own", holder, "400")).toEqual(["FILLED", ""]);
  expect(it.held()).toEqual({ [holder]: "600" });
});

const victims: readonly (readonly [string, readonly ServiceName[]])[] = [
  ["order management", ["oms"]],
  ["nobody", []],
  ["operations", ["operations"]],
  ["the risk engine and treasury", ["riskengine", "treasury"]],
];

it.each(byFloor({ first: victims.slice(0, 1), later: victims }))(
  "23.3: a stop is crossed with the strategy that holds the other side, once, with %s killed all the while",
  async (_who, killed) => {
    const it = await running(2_302);
    // Unmarked it may: the fund's position shrinks to nothing, and it is short of what the other one holds.
    expect(await it.exit("against", other, "1000", { reduce_only: false })).toEqual(["FILLED", ""]);
    await it.pass(1_000);
    expect([it.held(), await it.exposed(), it.atBroker()]).toEqual([{ [holder]: "1000", [other]: "-1000" }, "0", "0"]);
    await it.halt(other);
    it.made.outside.gap("AAPL", -0.15);
    for (let round = 0; round < 12; round += 1) {
      await it.pass(150 + 37 * round);
      for (const name of killed) it.made.crash(name);
    }
    const ended = () => it.reported<StopEnded>(subjects.stopEnded).filter(({ symbol }) => symbol === "AAPL");
    await it.until("the stop ends", () => ended().length > 0);
    expect(ended()).toMatchObject([{ strategy_id: holder, outcome: "EXITED", exited_quantity: "1000" }]);
    await it.until("everybody runs", () => it.made.running().length === 4);
    await it.pass(3_000);
    const crosses = it.reported<Fill>(subjects.fillsCreated).filter(({ kind }) => kind === "CROSS");
    expect(
      crosses.map(({ strategy_id, side, quantity, broker, fee }) => [strategy_id, side, quantity, broker, fee]),
    ).toEqual([
      [holder, "SELL", "1000", "internal", "0"],
      [other, "BUY_TO_COVER", "1000", "internal", "0"],
    ]);
    expect(new Set(crosses.map(({ price }) => price)).size).toBe(1);
    expect([it.held(), await it.exposed(), it.atBroker()]).toEqual([{ [holder]: "0", [other]: "0" }, "0", "0"]);
    // Each is an entry of the audit log, and in the ledger.
    for (const { fill_id: id } of crosses) expect(it.made.tables.ledger.entries.has(`fill:${id}`)).toBe(true);
    const fills = it.made.tables.log.filter(({ subject }) => subject === subjects.fillsCreated.name);
    expect(fills.filter(({ id }) => !it.made.audit.byEvent.has(id))).toEqual([]);
    const past = history();
    for (const entry of it.made.tables.log) fold(past, readReported(entry));
    expect(booksApart({ past, platform: it.made })).toBeUndefined();
    expect(it.made.defects).toEqual([]);
  },
);

// A platform that begins with an empty store, at twenty moments at which dates are doubtful: its loss limits are on from the first valuation, and
// they are in nobody's way. All services run, in virtual time and with the clock that is handed in; no two starts hear of their reference data and
// of their first valuations in the same order.
import { afterAll, beforeAll, expect, it } from "vitest";
import { peersOver } from "../adapters/peers/peers.ts";
import type { RiskDecision } from "../contracts/src/generated/svc/v1/order.ts";
import type { Losses } from "../contracts/src/generated/svc/v1/riskengine.ts";
import { parse } from "../contracts/src/instant.ts";
import type { NavUpdated } from "../contracts/src/records/fund.ts";
import { subjects } from "../contracts/src/subjects.ts";
import { seedPositions } from "../services/oms/seed-positions.ts";
import { paperPositions } from "../services/shared/paper-seeds.ts";
import { byFloor } from "../testkit/full-count.ts";
import { ignoreEndedIncarnations } from "../testkit/virtual/incarnation.ts";
import { testSettings } from "../testkit/virtual/memory-platform.ts";
import { scheduler } from "../testkit/virtual/scheduler.ts";
import { faults } from "./faults.ts";
import { firstHoldings } from "./outside.ts";
import type { PlantedBug } from "./planted-bug.ts";
import { operatorIdentity, platform, serviceIdentity } from "./platform.ts";

const moments = [
  // Both sides of midnight UTC, which is the evening before in New York.
  ...["2026-11-17T23:59:40Z", "2026-11-17T23:59:57Z", "2026-11-18T00:00:00Z", "2026-11-18T00:00:20Z"],
  // Both sides of midnight in New York.
  ...["2026-11-18T04:59:40Z", "2026-11-18T04:59:57Z", "2026-11-18T05:00:00Z", "2026-11-18T05:00:20Z"],
  // A weekend, also while it is another day in UTC, and its end.
  ...["2026-11-21T15:00:00Z", "2026-11-22T02:30:00Z", "2026-11-22T15:00:00Z", "2026-11-23T04:59:55Z"],
  // Thanksgiving, and the first of a year.
  ...["2026-11-26T15:00:00Z", "2026-11-27T02:30:00Z", "2026-12-31T23:59:55Z", "2027-01-01T15:00:00Z"],
  // Both days on which New York changes its clocks, around the change.
  ...["2026-11-01T05:59:50Z", "2026-11-01T06:30:00Z", "2026-03-08T06:59:50Z", "2026-03-08T07:00:10Z"],
];

/** The risk engine learns late that there is reference data, so that valuations come first. */
function readsLate(forMs: number): PlantedBug {
  let left = forMs;
  return {
    name: "reads-late",
    sentence: "The risk engine hears of reference data late.",
    ports: (service, ports) => {
      if (service !== "riskengine") return ports;
      const { referenceData, timers } = ports as unknown as {
        referenceData: { changed(): Promise<number> };
        timers: { after(ms: number, run: () => void): unknown };
      };
      timers.after(left, () => {
        left = 0;
      });
      const changed = async (): Promise<number> => (left > 0 ? 0 : referenceData.changed());
      return { ...ports, referenceData: { ...referenceData, changed } };
    },
  };
}

let restore: () => void;
beforeAll(() => {
  restore = ignoreEndedIncarnations();
});
afterAll(() => restore());

async function freshStart(at: string, number: number) {
  const time = scheduler({ seed: 2_200 + number, startAt: parse(at) });
  // As the product has it: a start is judged by the values that come every second.
  const settings = { ...testSettings, risk: { ...testSettings.risk, lossValueAgeMsMax: 15_000 } };
  const plantedBug = number % 2 === 0 ? undefined : readsLate(1_500 + 300 * number);
  const made = platform({ time, faults: faults(time.prng.fork("weather")), settings, plantedBug });
  made.start();
  made.retire("research");
  const { riskChecks } = peersOver(made.ask(serviceIdentity("oms")));
  let asked = 0;
  const reported = <Payload>(subject: { readonly name: string }): Payload[] =>
    made.tables.log
      .filter((entry) => entry.subject === subject.name)
      .map(({ bytes }) => JSON.parse(new TextDecoder().decode(bytes)) as Payload);
  return {
    made,
    pass: (ms: number) => time.run({ untilMs: time.elapsedMs() + ms }),
    elapsedMs: () => time.elapsedMs(),
    navs: () => reported<NavUpdated>(subjects.navUpdated).filter(({ fund_id: id }) => id === "alpha"),
    /** The first positions, on both sides; order management put none in, because it was there before the funds were. */
    async hold(): Promise<void> {
      await time.finish("the positions", seedPositions({ ...made.bystander("oms"), settings }));
      await time.finish("the broker", made.outside.connect().begin(firstHoldings()));
    },
    halts: () => made.tables.risk.halts.filter(({ fund_id: id }) => id === "alpha"),
    async losses(): Promise<Losses["losses"]> {
      const asking = made.ask(operatorIdentity("duty"))("RiskEngine", "ListLosses", { fund_id: "alpha" });
      const outcome = await time.finish("the list", asking);
      return outcome.ok ? (outcome.value as Losses).losses : [];
    },
    /** The order of examples/check-order.js. */
    async check(): Promise<Pick<RiskDecision, "approved" | "code">> {
      asked += 1;
      const id = `fresh-${number}-${asked}`;
      const order = { idempotency_key: id, order_id: id, fund_id: "alpha", strategy_id: "alpha-momentum" };
      const rest = { symbol: "AAPL", side: "BUY", quantity: "10", order_type: "MARKET", tif: "DAY", broker: "paper" };
      const whole = { ...order, ...rest, asset_class: "EQUITY", actor: "example" };
      return time.finish("the order", riskChecks.check(whole as never)).catch(() => ({ approved: false, code: "" }));
    },
  };
}

type Fresh = Awaited<ReturnType<typeof freshStart>>;

async function approvedWithin(start: Fresh, ms: number): Promise<boolean> {
  for (const until = start.elapsedMs() + ms; start.elapsedMs() < until; await start.pass(500)) {
    if ((await start.check()).approved) return true;
  }
  return false;
}

const numbered = moments.map((at, number) => [at, number] as const);
/** One in each order: valuations first, and reference data first. */
const few = numbered.filter((_, number) => [6, 17].includes(number));

it.each(byFloor({ first: few, later: numbered }))(
  "22.1: a fresh start at %s approves the example's order, and halts for a loss just above the limit within 5 s or denies",
  async (at, number) => {
    const start = await freshStart(at, number);
    // Ready, as the platform is when it asks for its first order.
    while (start.made.running().length < 4) await start.pass(100);
    expect(await approvedWithin(start, 15_000)).toBe(true);
    const shown = await start.losses();
    expect(shown.filter(({ limit_pct: pct }) => pct !== undefined).map(({ state }) => state)).not.toContain(
      "NOT_JUDGED",
    );

    await start.hold();
    const isHeld = (): boolean => Number(start.navs().at(-1)?.positions_value ?? "0") > 0;
    for (let waited = 0; !isHeld() && waited < 5_000; waited += 100) await start.pass(100);
    await start.pass(2_000);
    const before = start.navs().at(-1);
    const held = Number(before?.positions_value ?? "0");
    const pct = (-0.0203 * Number(before?.nav)) / held;
    for (const { fundId, symbol } of paperPositions) if (fundId === "alpha") start.made.outside.gap(symbol, pct);
    const isLost = (): boolean => Number(start.navs().at(-1)?.nav) < 0.98 * Number(before?.nav);
    for (let waited = 0; !isLost() && waited < 5_000; waited += 100) await start.pass(100);
    expect(isLost()).toBe(true);
    const lostAt = start.elapsedMs();
    while (start.halts().length === 0 && start.elapsedMs() < lostAt + 5_000) await start.pass(100);
    const { approved, code } = await start.check();
    expect([approved, start.halts().length > 0 ? "halted" : code]).toEqual([false, "halted"]);
    const breached = (await start.losses()).filter(({ state }) => state === "BREACHED");
    expect(breached.length).toBeGreaterThan(0);
    expect(start.made.defects).toEqual([]);
  },
);

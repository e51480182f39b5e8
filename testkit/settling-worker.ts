// Order management's settlement of options on PostgreSQL, for tests: what two strategies hold of options that have ended, the worker that books it, and
// moments at which that worker can be made to die. As a process: `npx tsx testkit/settling-worker.ts TARGET MOMENT`, killed by itself as kill -9 does.
import { pathToFileURL } from "node:url";
import type { ConnectionTarget } from "../adapters/postgres/connection.ts";
import { systemClock } from "../adapters/system/clock.ts";
import { systemSha256 } from "../adapters/system/hashing.ts";
import { systemTimers } from "../adapters/system/timers.ts";
import * as decimal from "../contracts/src/decimal.ts";
import { parse } from "../contracts/src/instant.ts";
import type { Instrument } from "../contracts/src/records/market.ts";
import type { Store, UnitOfWork } from "../ports/store.ts";
import { bookFill } from "../services/oms/booking.ts";
import { settleOptions } from "../services/oms/settling.ts";
import { openPeer } from "./postgres-fixture.ts";
import { quietLog } from "./quiet-log.ts";
import { exampleFill } from "./record-examples.ts";

/** Before the transaction, in it after the first of its trades, and when it is committed and nobody knows yet. */
export const deaths = ["before", "inside", "after"] as const;
export type Death = (typeof deaths)[number];

const share: Instrument = {
  symbol: "SPY",
  name: "SPY",
  asset_class: "EQUITY",
  currency: "USD",
  tick_size: "0.01",
  lot_size: "1",
  multiplier: "1",
  sector: "index",
  calendar: "us",
};
const ended = { underlying: "SPY", expiry: "2026-01-02", strike: "650", multiplier: "100" };
const listed: readonly Instrument[] = [
  share,
  { ...share, symbol: "BTC-USD", asset_class: "CRYPTO" },
  { ...share, ...ended, symbol: "SPY 260102C00650000", asset_class: "OPTION", right: "CALL" },
  { ...share, ...ended, symbol: "SPY 260102P00650000", asset_class: "OPTION", right: "PUT" },
  { ...share, ...ended, symbol: "BTC 260102C00000650", asset_class: "OPTION", right: "CALL", underlying: "BTC-USD" },
];

/** Written calls that are assigned, puts that expire without value, and calls on what is settled in cash. */
export async function holdEnded(store: Store): Promise<void> {
  const held = [
    ["SPY 260102C00650000", "income", "SELL", "3"],
    ["SPY 260102C00650000", "other", "BUY", "1"],
    ["SPY 260102P00650000", "income", "SELL", "4"],
    ["BTC 260102C00000650", "income", "SELL", "2"],
  ] as const;
  await store.transact("fixture", async (unit) => {
    for (const [symbol, strategy_id, side, quantity] of held) {
      const fill_id = `open ${symbol} ${strategy_id}`.replaceAll(" ", "-");
      const opened = { ...exampleFill, fill_id, order_id: fill_id, fund_id: "gamma", strategy_id, symbol };
      const fill = { ...opened, side, quantity, price: "10", kind: "TRADE" as const };
      await bookFill(unit, fill, decimal.parse("100"), systemClock().now());
    }
  });
}

export interface SettledBooks {
  readonly positions: readonly string[];
  readonly fills: readonly string[];
  readonly realised: string;
}

export async function settledBooks(store: Store): Promise<SettledBooks> {
  return store.transact("fixture", async (unit) => {
    const all = await unit.oms.positions("gamma");
    const ids = new Set<string>();
    const fills: string[] = [];
    for (const fill of await unit.oms.unbookedFills(["gamma"], 1_000)) {
      if (fill.kind !== "SETTLEMENT") continue;
      ids.add(fill.fill_id);
      fills.push(`${fill.strategy_id} ${fill.symbol} ${fill.side} ${fill.quantity} ${fill.price}`);
    }
    if (ids.size !== fills.length) throw new Error("a trade has the id of another");
    const realised = all.reduce((sum, one) => decimal.add(sum, one.realisedPnl), decimal.zero);
    const open = all.filter(({ quantity }) => quantity !== decimal.zero);
    const positions = open.map((one) => `${one.strategyId} ${one.symbol} ${decimal.format(one.quantity)}`).sort();
    return { positions, fills: fills.sort(), realised: decimal.format(realised) };
  });
}

/** At 670 the calls are worth 20 a share. Premiums of 4,000 and 2,000 stay, 1,000 are lost, and 2 x 20 x 100 are paid in cash. */
export const rightlySettled: SettledBooks = {
  positions: ["income SPY -300", "other SPY 100"],
  fills: [
    "income BTC 260102C00000650 BUY 2 20",
    "income SPY 260102C00650000 BUY 3 0",
    "income SPY 260102P00650000 BUY 4 0",
    "income SPY SELL 300 650",
    "other SPY 260102C00650000 SELL 1 0",
    "other SPY BUY 100 650",
  ],
  realised: "4000",
};

/** Works until it is stopped; `die` is called at the moment, the second time that it comes, so that some are booked and some are not. */
export function settlingWorker(store: Store, death?: Death, die: () => void = () => undefined): () => Promise<void> {
  let settlements = 0;
  const dying = (moment: Death): void => {
    if (death === moment && settlements === 2) die();
  };
  const watched: Store["transact"] = async (name, work) => {
    if (name !== "oms.settle") return store.transact(name, work);
    settlements += 1;
    dying("before");
    const done = await store.transact(name, (unit) => work(death === "inside" ? dyingUnit(unit) : unit));
    dying("after");
    return done;
  };
  const dyingUnit = (unit: UnitOfWork): UnitOfWork => ({
    ...unit,
    oms: {
      ...unit.oms,
      async insertFill(fill) {
        const kept = await unit.oms.insertFill(fill);
        dying("inside");
        return kept;
      },
    },
  });
  const settlement = { price: decimal.parse("670"), at: parse("2026-01-03T00:00:01Z"), cursor: 0 };
  const ports = {
    store: { ...store, transact: watched },
    clock: systemClock(),
    timers: systemTimers(),
    sha256: systemSha256,
    log: quietLog,
    crash: { die: (defect: Error) => void process.stderr.write(`${defect.stack}\n`) },
    brokers: [{ name: "paper", settlement: async () => settlement }],
  };
  const instruments = { find: async (symbol: string) => listed.find((one) => one.symbol === symbol) };
  const bells = { order: () => undefined, reports: () => undefined, position: () => undefined };
  return settleOptions(ports as never, instruments as never, bells).stop;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [, , target = "{}", death] = process.argv;
  const { store } = openPeer(JSON.parse(target) as ConnectionTarget);
  settlingWorker(store, death as Death, () => process.kill(process.pid, "SIGKILL"));
}

// Seeded moments of random lives: what a moment of the past tells is what the engine held and counted at that very moment, letter by letter, and nothing
// that was recorded after it.
import { expect, it } from "vitest";
import * as decimal from "../../../contracts/src/decimal.ts";
import { RiskDecision } from "../../../contracts/src/generated/svc/v1/order.ts";
import { DecisionRecord } from "../../../contracts/src/generated/svc/v1/riskdesk.ts";
import { format, type Instant, parse } from "../../../contracts/src/instant.ts";
import { createEngine, type Engine } from "../../../core/engine/engine.ts";
import { exposureUse, inOrder, unusedLimits } from "../../../core/engine/limit-use.ts";
import type { KeptBooks, ReplayQueries, Standing } from "../../../ports/replay-queries.ts";
import type { JournalRow } from "../../../ports/risk-store.ts";
import { engineOptions } from "../../../testkit/risk/engine-fixture.ts";
import { type Entry, type Life, randomLife } from "../../../testkit/risk/random-life.ts";
import { openMemoryPlatform } from "../../../testkit/virtual/memory-platform.ts";
import { prng } from "../../../testkit/virtual/prng.ts";
import { createCosts } from "./costs.ts";
import { getMoment } from "./moment.ts";

const encoder = new TextEncoder();
const json = (value: object): Uint8Array => encoder.encode(JSON.stringify(value));
const none = new AbortController().signal;
const fundIds = ["alpha", "beta", "gamma"] as const;

function rowOf(entry: Entry, id: bigint, at: Instant): JournalRow {
  if (entry.kind === "decision") {
    const { order, decision } = entry;
    const stored = RiskDecision.decode(RiskDecision.encode(decision).finish());
    const payload = DecisionRecord.encode({ order, decision: stored, inputs: new Uint8Array() }).finish();
    return {
      id,
      kind: "decision",
      at: entry.at,
      fundId: order.fund_id,
      orderId: order.order_id,
      approved: decision.approved,
      payload,
    };
  }
  if (entry.kind === "release") {
    const released = {
      strategy_id: entry.strategyId,
      fund_id: "alpha",
      released_by: "operator:x",
      reason: "r",
      at: format(at),
    };
    return { id, kind: "release", at, fundId: "alpha", orderId: "", payload: json(released) };
  }
  const of = entry.kind === "fill" ? entry.fill : entry.transition;
  return { id, kind: entry.kind, at, fundId: of.fund_id, orderId: of.order_id, payload: json(of) };
}

interface Seen {
  readonly fundId: string;
  readonly at: Instant;
  readonly positions: unknown;
  readonly orders: unknown;
  /** Undefined where an option is held: its delta is not kept. */
  readonly use: unknown;
  readonly standing: Standing;
  /** How many rows there were. */
  readonly rows: number;
}

function seenBy(engine: Engine, life: Life, fundId: string, rows: number): Seen {
  const { strategy_positions: held = [], orders } = engine.snapshot();
  const { reference, prices, navs, envelopes } = life.tables;
  const symbols = engine.lines().flatMap((line) => (line.fund_id === fundId ? [line.symbol] : []));
  const hasOption = symbols.some((symbol) => symbol.startsWith("SPY-"));
  const at = life.at;
  const use = inOrder(
    engine.read((state) => [...unusedLimits(state, fundId, at), ...exposureUse(state, fundId, symbols, at)]),
  ).map(({ as_of: _, ...row }) => row);
  const nav = decimal.parse(navs.get(fundId) ?? "0");
  return {
    fundId,
    at,
    positions: held.flatMap(([fund, ...rest]) => (fund === fundId ? [rest] : [])),
    orders: orders.flatMap((order) =>
      order.fund_id === fundId && !order.ended ? [[order.order_id, order.quantity, order.filled]] : [],
    ),
    use: hasOption ? undefined : use,
    rows,
    standing: {
      reference: { ...reference, versions: {} as never, change: 0 },
      envelope: envelopes.get(fundId),
      halts: [],
      restrictions: [],
      baselines: [],
      nav: {
        fundId,
        at,
        nav,
        cash: nav,
        positionsValue: decimal.zero,
        netFlows: decimal.zero,
        currency: fundId === "gamma" ? "EUR" : "USD",
        oldestPriceAgeMs: 0,
        prices: Object.fromEntries(
          [...prices].map(([symbol, price]) => [symbol, { quantity: "0", price, at: format(at) }]),
        ),
      },
    },
  };
}

/** A life, what was seen at some moments of it, and the journal with the books that were kept on the way. */
function live(seed: number, steps: number) {
  const rolls = prng(seed);
  const life = randomLife(rolls.fork("life"));
  const engine = createEngine(engineOptions);
  life.introduce(engine);
  const rows: JournalRow[] = [];
  const kept: KeptBooks[] = [];
  const seen: Seen[] = [];
  for (let step = 0; step < steps; step += 1) {
    life.step([engine]);
    for (const entry of life.entries.slice(rows.length)) rows.push(rowOf(entry, BigInt(rows.length + 1), life.at));
    if (step % 45 === 30 && life.asked.length === 0) {
      const costs = createCosts();
      for (const row of rows) costs.add(row);
      const taken = { through: BigInt(rows.length), at: life.at, costs: costs.stored() };
      kept.push({ ...taken, engine: json(engine.snapshot()) });
    }
    // What the risk officer is asked about is reserved and not recorded yet.
    if (step % 8 === 7 && life.asked.length === 0)
      seen.push(seenBy(engine, life, fundIds[rolls.below(3)] ?? "alpha", rows.length));
  }
  return { rows, kept, seen };
}

it("200 seeded moments of random lives are what the engine held and counted then", async () => {
  const base = openMemoryPlatform({ seed: 1, pumps: true }).portsOf("operations");
  let compared = 0;
  let counted = 0;
  for (let seed = 1; compared < 200; seed += 1) {
    const { rows, kept, seen } = live(seed * 77, 300);
    for (const one of seen) {
      // Rows of one moment that came after it was looked at are after it.
      const isBefore = (row: JournalRow): boolean => row.id <= BigInt(one.rows);
      const replayQueries = {
        standing: async () => one.standing,
        booksBefore: async (at) => kept.findLast((books) => books.at <= at && books.through <= BigInt(one.rows)),
        journal: async ({ fundId, after, at, countMax }) =>
          rows
            .filter((row) => row.fundId === fundId && row.id > after && row.at <= at && isBefore(row))
            .slice(0, countMax),
      } satisfies Partial<ReplayQueries>;
      const funds = fundIds.map((fund_id) => ({ fund_id, strategies: [] }));
      const referenceData = { read: async () => ({ funds }), changed: async () => 1 };
      const ports = { ...base, running: () => undefined, clock: { now: () => one.at }, replayQueries, referenceData };
      const moment = await getMoment(ports as never, { fund_id: one.fundId, at: format(one.at) }, none);
      const name = `seed ${seed}, ${one.fundId}, ${format(one.at)}`;
      expect(
        moment.positions.map(({ strategy_id, symbol, quantity }) => [strategy_id, symbol, quantity]),
        name,
      ).toEqual(one.positions);
      expect(
        moment.open_orders.map((order) => [order.order_id, order.quantity, order.filled_quantity]),
        name,
      ).toEqual(one.orders);
      const use = moment.limit_use.filter(({ limit }) => limit.startsWith("max_") || limit.startsWith("sector_"));
      if (one.use !== undefined) {
        expect(
          use.map(({ as_of: _, ...row }) => row),
          name,
        ).toEqual(one.use);
        counted += 1;
      }
      const moments = JSON.stringify(moment).match(/\d{4}-\d\d-\d\dT[\d:.]+Z/g) ?? [];
      expect(
        moments.filter((text) => parse(text) > one.at),
        name,
      ).toEqual([]);
      compared += 1;
    }
  }
  expect(counted).toBeGreaterThan(50);
});

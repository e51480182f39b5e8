// What the bench's server finds in its database: funds with a hundred positions each, limits that nothing here reaches but where the order
// itself says so, and a valuation. It is written the ordinary way, through units of work and the journal.
import { createHash } from "node:crypto";
import type { DatabaseAddress } from "../../adapters/postgres/connection.ts";
import { createPostgresRiskStore } from "../../adapters/postgres/risk/risk-store.ts";
import { createPostgresStore } from "../../adapters/postgres/store.ts";
import { openStore } from "../../adapters/records/open-store.ts";
import { alwaysOpen } from "../../contracts/src/calendars.ts";
import * as instant from "../../contracts/src/instant.ts";
import type { RiskEnvelope } from "../../contracts/src/records/envelope.ts";
import {
  calendarReferenceOf,
  type ReferenceContents,
  type ReferenceKind,
} from "../../contracts/src/records/reference.ts";
import { benchTools } from "../bus/ticket.ts";
import { fundCount, fundOf, positionsPerFund, symbolOf } from "./orders.ts";

const positionQuantity = "1000000";

export function benchReference(funds: number): ReferenceContents {
  return {
    instruments: Array.from({ length: positionsPerFund }, (_, index) => ({
      symbol: symbolOf(index),
      name: symbolOf(index),
      asset_class: "EQUITY" as const,
      currency: "USD",
      tick_size: "0.01",
      lot_size: "1",
      multiplier: "1",
      sector: `sector-${index % 10}`,
      calendar: alwaysOpen.definition.name,
    })),
    funds: Array.from({ length: funds }, (_, index) => ({
      fund_id: fundOf(index),
      name: fundOf(index),
      mode: "PAPER" as const,
      currency: "USD",
      calendar: alwaysOpen.definition.name,
      strategies: [`${fundOf(index)}-a`],
    })),
    fx: [],
    borrow: [],
    restricted: [],
    venues: [],
    calendars: [calendarReferenceOf(alwaysOpen.definition)],
  };
}

export function benchEnvelope(fundId: string): RiskEnvelope {
  return {
    fund_id: fundId,
    version: 1,
    max_position_pct: 1,
    daily_loss_halt_pct: 0.1,
    weekly_loss_halt_pct: 0.2,
    monthly_loss_halt_pct: 0.3,
    synthetic_stop_pct: 0.1,
    max_notional: 1_000_000,
    allowed_brokers: ["paper"],
    allowed_order_types: ["MARKET", "LIMIT", "STOP", "STOP_LIMIT"],
    allowed_asset_classes: ["EQUITY"],
    max_gross_exposure_pct: 5,
    max_net_exposure_pct: 5,
    sector_limits_pct: Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`sector-${index}`, 5])),
    shorting_enabled: false,
    max_borrow_fee_pct: 0,
    price_collar_pct: 0.05,
    order_rate_max_per_s: 100_000,
    halt_allow_reduce_only: true,
  };
}

export function benchNav(fundId: string, at: instant.Instant) {
  return { fund_id: fundId, nav: "1000000000000", currency: "USD", as_of: instant.format(at) };
}

export function benchFill(fund: number, symbol: number, at: instant.Instant) {
  return {
    fill_id: `start-${fund}-${symbol}`,
    order_id: `start-${fund}-${symbol}`,
    fund_id: fundOf(fund),
    strategy_id: `${fundOf(fund)}-a`,
    symbol: symbolOf(symbol),
    side: "BUY" as const,
    quantity: positionQuantity,
    price: "100",
    filled_at: instant.format(at),
  };
}

/** Reference data, limits and a valuation of every fund. */
export async function putBeginnings(
  database: DatabaseAddress,
  at: instant.Instant,
  reference: Partial<ReferenceContents>,
): Promise<void> {
  const tools = benchTools();
  const opened = openStore({ ...tools, database: database.app, source: "riskengine", services: ["riskengine"] });
  // No service is told of it: it is there before anything runs.
  const store = createPostgresStore({ ...tools, pool: opened.pool, wake: opened.wake });
  try {
    await store.transact("bench.ground", async (unit) => {
      for (const [kind, content] of Object.entries(reference)) {
        const hash = createHash("sha256").update(JSON.stringify(content)).digest("hex");
        const set = { version: 1, setBy: "bench", setAt: at, reason: "the bench's ground", hash };
        await unit.reference.put({ kind: kind as ReferenceKind, content, ...set });
      }
      for (let fund = 0; fund < fundCount; fund += 1) {
        await unit.risk.putEnvelope(benchEnvelope(fundOf(fund)));
        await unit.risk.putNav(benchNav(fundOf(fund), at), at);
      }
    });
  } finally {
    await store.close();
    await opened.close();
  }
}

export async function layFixture(database: DatabaseAddress): Promise<void> {
  const tools = benchTools();
  const at = tools.clock.now();
  await putBeginnings(database, at, benchReference(fundCount));
  const opened = openStore({ ...tools, database: database.app, source: "riskengine", services: ["riskengine"] });
  const risk = createPostgresRiskStore({ ...tools, ...opened });
  try {
    const writerEpoch = await risk.takeWriterEpoch("bench");
    for (let fund = 0; fund < fundCount; fund += 1) {
      const entries = Array.from({ length: positionsPerFund }, (_, symbol) => {
        const fill = benchFill(fund, symbol, at);
        const payload = new TextEncoder().encode(JSON.stringify(fill));
        return {
          kind: "fill" as const,
          at,
          fundId: fill.fund_id,
          orderId: fill.order_id,
          fillId: fill.fill_id,
          payload,
        };
      });
      await risk.append({ id: tools.random.uuid(), writerEpoch, entries });
    }
  } finally {
    await risk.close();
    await opened.close();
  }
}

// What a strategy has to know before it decides, read from the store: its own positions and open orders, those of the whole fund, the fund's value,
// and the reference data.
import * as decimal from "../../contracts/src/decimal.ts";
import { type Instant, minusMilliseconds, parse } from "../../contracts/src/instant.ts";
import type { Instrument } from "../../contracts/src/records/market.ts";
import type { Restriction } from "../../contracts/src/records/restriction.ts";
import type { HeldLine } from "../../core/envelope/within-envelope.ts";
import { isAhead } from "../../core/state/dated.ts";
import { actorOf } from "../../core/strategies/strategy-orders.ts";
import type { StoredOrder, StoredPosition } from "../../ports/oms-records.ts";
import type { Reference } from "../../ports/reference-data.ts";
import type { StoredStrategy } from "../../ports/research-records.ts";
import type { ServicePorts } from "../shared/service.ts";

type FundViewPorts = Pick<ServicePorts, "store" | "riskStore" | "referenceData" | "clock">;

export interface StrategyBooks {
  readonly strategy: StoredStrategy | undefined;
  /** What watchdogs restrict, everywhere. */
  readonly restrictions: readonly Restriction[];
  /** Of this strategy alone. */
  readonly positions: ReadonlyMap<string, decimal.Decimal>;
  /** Of the whole fund. */
  readonly lines: readonly HeldLine[];
  /** Handed in by the strategy itself, oldest first. */
  readonly open: readonly StoredOrder[];
  /** Symbols in which anybody has an open order for it, stops included. */
  readonly busy: ReadonlySet<string>;
}

export async function readBooks(ports: FundViewPorts, fundId: string, strategyId: string): Promise<StrategyBooks> {
  return ports.store.transact("research.look", async (unit) => {
    const strategy = (await unit.research.strategies()).find((one) => one.strategyId === strategyId);
    const positions = await unit.oms.positions(fundId);
    const orders = (await unit.oms.openOrders()).filter(({ order }) => order.fund_id === fundId);
    const own = positions.filter((position) => position.strategyId === strategyId);
    const forIt = orders.filter(({ order }) => order.strategy_id === strategyId);
    return {
      strategy,
      restrictions: await unit.restrictions.listOpen(),
      positions: new Map(own.map(({ symbol, quantity }) => [symbol, quantity])),
      lines: linesOf(positions, orders),
      open: forIt.filter(({ order }) => order.actor === actorOf(strategyId)),
      busy: new Set(forIt.map(({ order }) => order.symbol)),
    };
  });
}

function linesOf(positions: readonly StoredPosition[], orders: readonly StoredOrder[]): readonly HeldLine[] {
  const lines = new Map<string, HeldLine>();
  const lineOf = (symbol: string): HeldLine =>
    lines.get(symbol) ?? { symbol, quantity: decimal.zero, openBuys: decimal.zero, openSells: decimal.zero };
  for (const { symbol, quantity } of positions) {
    const line = lineOf(symbol);
    lines.set(symbol, { ...line, quantity: decimal.add(line.quantity, quantity) });
  }
  for (const { order, filledQuantity, sliced } of orders) {
    if (sliced === true) continue;
    const left = decimal.max(decimal.zero, decimal.subtract(decimal.parse(order.quantity), filledQuantity));
    const line = lineOf(order.symbol);
    const isBuy = order.side === "BUY" || order.side === "BUY_TO_COVER";
    const openBuys = isBuy ? decimal.add(line.openBuys, left) : line.openBuys;
    const openSells = isBuy ? line.openSells : decimal.add(line.openSells, left);
    lines.set(order.symbol, { ...line, openBuys, openSells });
  }
  return [...lines.values()];
}

/** The newest value of the fund, unless it is too old to size anything by. */
export async function freshNav(
  { riskStore, clock }: FundViewPorts,
  fundId: string,
  ageMsMax: number,
): Promise<decimal.Decimal | undefined> {
  const nav = (await riskStore.navs()).find((one) => one.fund_id === fundId);
  if (nav === undefined) return undefined;
  // It is as old as the oldest price in it.
  const now = clock.now();
  const pricedAt = minusMilliseconds(parse(nav.as_of), nav.oldest_price_age_ms ?? 0);
  if (pricedAt < minusMilliseconds(now, ageMsMax) || isAhead(parse(nav.as_of), now)) return undefined;
  return decimal.parse(nav.nav);
}

export interface ReferenceReader {
  /** Read again only when it has changed. */
  current(): Promise<{ readonly reference: Reference; readonly instruments: ReadonlyMap<string, Instrument> }>;
}

export function referenceReader({ referenceData }: Pick<FundViewPorts, "referenceData">): ReferenceReader {
  let kept: { readonly reference: Reference; readonly instruments: ReadonlyMap<string, Instrument> } | undefined;
  return {
    async current() {
      const changed = await referenceData.changed();
      if (kept === undefined || kept.reference.change !== changed) {
        const reference = await referenceData.read();
        kept = { reference, instruments: new Map(reference.instruments.map((one) => [one.symbol, one])) };
      }
      return kept;
    },
  };
}

/** Whether the strategy trades a paper fund that names it: anything else is nobody's to play with. */
export function isPaperStrategy(reference: Reference, fundId: string, strategyId: string): boolean {
  const fund = reference.funds.find(({ fund_id }) => fund_id === fundId);
  return fund?.mode === "PAPER" && fund.strategies.includes(strategyId);
}

/** Orders that were handed in before that moment. */
export function olderThan(orders: readonly StoredOrder[], before: Instant): readonly StoredOrder[] {
  return orders.filter(({ createdAt }) => createdAt < before);
}

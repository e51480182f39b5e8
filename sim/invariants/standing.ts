// What must be true of everything that stands in the market or is held: it is covered by what was approved, and nobody takes away what it needs.

import * as decimal from "../../contracts/src/decimal.ts";
import type { Instrument } from "../../contracts/src/records/market.ts";
import type { OrderTransition } from "../../contracts/src/records/order.ts";
import type { CalendarReference, FundReference, ReferenceChanged } from "../../contracts/src/records/reference.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Evidence } from "../evidence.ts";
import { type History, isOver, type ReportedOrder } from "../history.ts";
import { first, type Invariant, onMessage } from "./invariant.ts";

export const marketWithinApproved: Invariant = {
  name: "market_within_approved",
  sentence:
    "No order works at the broker for more than the newest approval that was spent on it allows, because an approval that lets two amounts out has approved one of them only.",
  violated(evidence) {
    const { reported, past, platform } = evidence;
    if (reported !== undefined) {
      return onMessage<OrderTransition>(evidence, subjects.ordersUpdated, ({ order_id: id, quantity }) =>
        quantity === undefined ? undefined : tooMuch(past.orders.get(id), id, decimal.parse(quantity)),
      );
    }
    return first(platform.outside.open.values(), ({ clientOrderId: id, quantity }) =>
      tooMuch(past.orders.get(id), id, quantity),
    );
  },
};

/** An order that goes out in slices is never approved itself. */
function tooMuch(order: ReportedOrder | undefined, id: string, quantity: decimal.Decimal): string | undefined {
  if (order?.approval === undefined || quantity <= order.allowed) return undefined;
  return `${id} is in the market for ${decimal.format(quantity)}, and ${decimal.format(order.allowed)} are approved`;
}

/** Something that needs its fund, and perhaps its strategy and its instrument, as they are. */
interface Needing {
  readonly what: string;
  readonly fundId?: string;
  readonly strategyId?: string;
  readonly symbol?: string;
  /** Whether a corporate action carries it to the new name of its symbol, which is reported after the change. */
  readonly isCarried?: boolean;
}

export const standingKeepsReference: Invariant = {
  name: "standing_keeps_reference",
  sentence:
    "What is held, in the market, owed or halted keeps its fund, strategy, instrument and trading day as they are, because a protection that depends on what its own actor may remove protects nothing.",
  violated: (evidence) =>
    onMessage<ReferenceChanged>(evidence, subjects.referenceChanged, ({ kind, version }) => {
      const taken = takings[kind];
      if (taken === undefined || version === 1) return undefined;
      const [before, after] = [contentOf(evidence, kind, version - 1), contentOf(evidence, kind, version)];
      return first(needings(evidence.past), (needing) => {
        const lost = taken(needing, before, after, evidence);
        return lost === undefined ? undefined : `${lost} under ${needing.what}`;
      });
    }),
};

type Taken = (needing: Needing, before: never, after: never, evidence: Evidence) => string | undefined;

const unit = ["multiplier", "currency", "asset_class", "underlying", "expiry", "strike", "right"] as const;

/** By kind of reference data: what a change has taken from something. */
const takings: Readonly<Record<string, Taken>> = {
  instruments({ symbol, isCarried }, before: readonly Instrument[], after: readonly Instrument[], { past }) {
    const was = before.find((one) => one.symbol === symbol);
    if (was === undefined) return undefined;
    const is = after.find((one) => one.symbol === symbol);
    if (is === undefined && isCarried && after.some((one) => becomes(past, symbol, one.symbol))) return undefined;
    if (is === undefined) return `the instrument ${symbol} went away`;
    const other = unit.find((field) => plain(was[field]) !== plain(is[field]));
    return other === undefined ? undefined : `${other} of ${symbol} became ${is[other]}`;
  },
  funds({ fundId, strategyId }, before: readonly FundReference[], after: readonly FundReference[]) {
    const was = before.find((one) => one.fund_id === fundId);
    const is = after.find((one) => one.fund_id === fundId);
    if (was === undefined) return undefined;
    if (is === undefined) return `the fund ${fundId} went away`;
    const other = (["mode", "currency", "calendar"] as const).find((field) => was[field] !== is[field]);
    if (other !== undefined) return `the ${other} of ${fundId} became ${is[other]}`;
    if (strategyId === undefined || is.strategies.includes(strategyId) || !was.strategies.includes(strategyId)) {
      return undefined;
    }
    return `the strategy ${strategyId} of ${fundId} went away`;
  },
  calendars({ fundId }, before: readonly CalendarReference[], after: readonly CalendarReference[], evidence) {
    const funds = newestOf(evidence, "funds") as readonly FundReference[];
    const name = funds.find((one) => one.fund_id === fundId)?.calendar;
    const zoneIn = (all: readonly CalendarReference[]) => all.find((one) => one.name === name)?.zone;
    if (name === undefined || zoneIn(before) === zoneIn(after)) return undefined;
    return `${fundId} counts its days by ${name}, which is of ${zoneIn(after)} now,`;
  },
};

/** By a corporate action that is about to be reported as applied: what stands under the old name goes on under the new one. */
function becomes({ actions }: History, symbol: string | undefined, newSymbol: string): boolean {
  return [...actions.values()].some(
    ({ reported: { state, legs } }) =>
      state === "ANNOUNCED" && legs.some((leg) => leg.symbol === symbol && leg.new_symbol === newSymbol),
  );
}

/** "1" and "1.0" are one number. */
function plain(text: string | undefined): string | undefined {
  const number = decimal.tryParse(text ?? "");
  return number === undefined ? text : decimal.format(number);
}

function versionsOf({ platform: { tables } }: Evidence, kind: string) {
  return [...tables.risk.references].find(([name]) => name === kind)?.[1] ?? [];
}

function contentOf(evidence: Evidence, kind: string, version: number): never {
  return (versionsOf(evidence, kind).find((one) => one.version === version)?.content ?? []) as never;
}

function newestOf(evidence: Evidence, kind: string): unknown {
  return versionsOf(evidence, kind).reduce<{ version: number; content: unknown }>(
    (best, one) => (one.version > best.version ? one : best),
    { version: 0, content: [] },
  ).content;
}

/** By what was reported until then; an order that was not sent yet is refused when it would be. */
function* needings(past: History): Generator<Needing> {
  for (const [key, quantity] of past.strategyPositions) {
    const [fundId = "", strategyId = "", ...symbol] = key.split(" ");
    if (quantity === decimal.zero) continue;
    yield { what: `${decimal.format(quantity)} of ${key}`, fundId, strategyId, symbol: symbol.join(" ") };
  }
  for (const { order, routed, state } of past.orders.values()) {
    if (!routed || isOver(state)) continue;
    const { order_id: id, fund_id: fundId, strategy_id: strategyId, symbol } = order;
    yield { what: `the order ${id}`, fundId, strategyId, symbol };
  }
  for (const { triggered, ended } of past.stops.values()) {
    if (ended !== undefined) continue;
    const { stop_id: id, fund_id: fundId, strategy_id: strategyId, symbol } = triggered;
    yield { what: `the stop ${id}`, fundId, symbol, isCarried: true, ...(strategyId !== undefined && { strategyId }) };
  }
  for (const { halt_id: id, severity, fund_id: fundId, strategy_id: strategyId, lift } of past.halts) {
    if (lift !== undefined || severity === "FIRM_HALT") continue;
    yield { what: `the halt ${id}`, fundId, ...(strategyId !== undefined && { strategyId }) };
  }
}

// Closes opposite positions of two strategies of one fund against each other: a stop that the fund's net position cannot prove, because another strategy
// holds the other side, needs no market. It is booked as two fills in one transaction, which everybody follows like any other.
//
//  1. The two fills have one symbol, quantity and price, opposite sides, no fee, and the broker `internal`: the fund's net position, its cash in sum and the
//     broker's books are those of before.
//  2. Both strategies hold less after it, on the side that they held before; what their own marked exits under way close is left to those.
//  3. The price is the newest mark, and it is fresh: without one there is no cross.
//  4. The same cross_id twice is one cross, whatever died in between.
//  5. Where the fund's envelope lets no exit pass a halt, nothing is crossed under one that covers the exit either. A halt of the other strategy alone keeps
//     nobody from getting out.
import type { Denial } from "../../contracts/src/codes.ts";
import type { Decimal } from "../../contracts/src/decimal.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import { Fault } from "../../contracts/src/fault.ts";
import type { CrossPositionsRequest, Fills } from "../../contracts/src/generated/svc/v1/platform.ts";
import { format, type Instant, millisecondsBetween } from "../../contracts/src/instant.ts";
import { decimalText, idText, symbolText } from "../../contracts/src/records/fields.ts";
import type { Fill } from "../../contracts/src/records/order.ts";
import { haltCovers } from "../../core/orders/may-send.ts";
import { closingSide } from "../../core/stops/synthetic-stops.ts";
import type { StoredOrder } from "../../ports/oms-records.ts";
import type { DeniedAnswer } from "../../ports/rpc.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import { bookFill } from "./booking.ts";
import type { Instruments, Priced } from "./instruments.ts";
import type { Bells, OmsPorts } from "./oms-parts.ts";
import { fillMessageOf } from "./order-status.ts";
import { remainingOf } from "./transitions.ts";

/** The broker that both fills name: there is none of that name, and none may be called so. */
const internalBroker = "internal";
/** A mark may be dated ahead by so much, as everywhere. */
const aheadMsMax = 5_000;

interface Leg {
  readonly strategyId: string;
  readonly from: Decimal;
}

interface Cross {
  readonly request: CrossPositionsRequest;
  readonly legs: readonly [Leg, Leg];
  readonly quantity: Decimal;
}

export function createCrossing(ports: OmsPorts, instruments: Instruments, bells: Bells) {
  return async (request: CrossPositionsRequest): Promise<Fills | DeniedAnswer> => {
    const cross = read(request);
    const { fund_id: fundId, symbol } = request;
    const instrument = await instruments.find(symbol);
    const exitsPass = (await ports.riskChecks.envelope(fundId))?.halt_allow_reduce_only ?? false;
    const marked = await instruments.freshPrice(symbol, fundId);
    const answer = await ports.store.transact("oms.cross", async (unit) => {
      const at = ports.clock.now();
      // Always in the same order, so that two crosses of the same strategies never wait for each other.
      const held = new Map<string, Decimal>();
      for (const strategyId of cross.legs.map((leg) => leg.strategyId).sort()) {
        const position = await unit.oms.lockPosition(fundId, strategyId, symbol);
        held.set(strategyId, position?.quantity ?? decimal.zero);
      }
      const known = await unit.oms.fillsOf(request.cross_id);
      if (known.length > 0) return { fills: known };
      const priced = freshMark(marked, at);
      if (instrument === undefined || priced === undefined) return { denial: unpriced(symbol) };
      const denial = (await moved(unit, cross, held)) ?? (exitsPass ? undefined : await halted(unit, cross));
      if (denial !== undefined) return { denial };
      const fills: Fill[] = [];
      for (const fill of fillsOf(cross, priced.price, at)) {
        if ((await bookFill(unit, fill, decimal.parse(instrument.multiplier), at)) !== undefined) fills.push(fill);
      }
      return { fills };
    });
    if ("denial" in answer) return { denial: answer.denial };
    bells.position(fundId, symbol);
    return { fills: answer.fills.map(fillMessageOf) };
  };
}

/** Invariant 3. */
function freshMark(priced: Priced | undefined, at: Instant): Priced | undefined {
  if (priced === undefined || priced.price < 0n) return undefined;
  return millisecondsBetween(priced.at, at) >= -aheadMsMax ? priced : undefined;
}

function unpriced(symbol: string): Denial {
  return { code: "CROSS_UNPRICED", reason: `There is no fresh mark of ${symbol} to cross at.` };
}

/** Invariant 2: the positions are those that were read, and enough of them is free. */
async function moved(
  unit: UnitOfWork,
  { request, legs, quantity }: Cross,
  held: ReadonlyMap<string, Decimal>,
): Promise<Denial | undefined> {
  const open = await unit.oms.openOrders();
  for (const { strategyId, from } of legs) {
    const now = held.get(strategyId) ?? decimal.zero;
    const under = open.filter((order) => isExitUnderWay(order, request, strategyId, from));
    const exiting = under.reduce((sum, order) => decimal.add(sum, remainingOf(order)), decimal.zero);
    const free = decimal.subtract(decimal.abs(now), exiting);
    if (now === from && quantity <= free) continue;
    const holds = `${strategyId} holds ${decimal.format(now)} ${request.symbol}`;
    const exits = exiting === decimal.zero ? "" : `, of which its own exits close ${decimal.format(exiting)}`;
    const asked = `${decimal.format(quantity)} of ${decimal.format(from)} were to be crossed`;
    return { code: "CROSS_OUTDATED", reason: `${holds}${exits}; ${asked}.` };
  }
  return undefined;
}

/** Slices are part of their order, which is counted whole. */
function isExitUnderWay(
  { order, parentOrderId }: StoredOrder,
  request: CrossPositionsRequest,
  strategyId: string,
  from: Decimal,
): boolean {
  return (
    parentOrderId === undefined &&
    order.reduce_only === true &&
    order.fund_id === request.fund_id &&
    order.symbol === request.symbol &&
    order.strategy_id === strategyId &&
    (order.side === "SELL") === (closingSide(from) === "SELL")
  );
}

/** Invariant 5. */
async function halted(unit: UnitOfWork, { request }: Cross): Promise<Denial | undefined> {
  const { active } = await unit.oms.haltsAtSending();
  const halt = active.find((one) => haltCovers(one, request));
  if (halt === undefined) return undefined;
  const reason = `The halt ${halt.halt_id} is in force, and the envelope of ${request.fund_id} lets no exit pass it.`;
  return { code: "CROSS_HALTED", reason };
}

/** Invariant 1. */
function fillsOf({ request, legs, quantity }: Cross, price: Decimal, at: Instant): readonly Fill[] {
  return legs.map(({ strategyId, from }, index) => ({
    fill_id: `${request.cross_id}:${index + 1}`,
    order_id: request.cross_id,
    fund_id: request.fund_id,
    strategy_id: strategyId,
    symbol: request.symbol,
    side: closingSide(from),
    quantity: decimal.format(quantity),
    price: decimal.format(price),
    fee: "0",
    broker: internalBroker,
    filled_at: format(at),
    kind: "CROSS",
  }));
}

function read(request: CrossPositionsRequest): Cross {
  const ids = [request.cross_id, request.fund_id, request.strategy_id, request.other_strategy_id];
  const numbers = [request.from_quantity, request.other_from_quantity, request.quantity];
  const isReadable =
    ids.every((id) => idText.safeParse(id).success) &&
    symbolText.safeParse(request.symbol).success &&
    numbers.every((text) => decimalText.safeParse(text).success);
  if (!isReadable) throw unfit("names its id, fund, symbol, both strategies and decimals for what they hold");
  const own: Leg = { strategyId: request.strategy_id, from: decimal.parse(request.from_quantity) };
  const other: Leg = { strategyId: request.other_strategy_id, from: decimal.parse(request.other_from_quantity) };
  const quantity = decimal.parse(request.quantity);
  if (own.strategyId === other.strategyId) throw unfit("is between two strategies");
  if (decimal.sign(own.from) * decimal.sign(other.from) !== -1) throw unfit("needs a long and a short position");
  const most = decimal.min(decimal.abs(own.from), decimal.abs(other.from));
  if (quantity <= 0n || quantity > most) throw unfit("has a quantity above zero that both of them hold");
  return { request, legs: [own, other], quantity };
}

function unfit(what: string): Fault {
  return new Fault("INVALID_ARGUMENT", `A cross ${what}.`, { retry: "never" });
}

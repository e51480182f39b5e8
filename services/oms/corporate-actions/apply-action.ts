// A corporate action in our books, all of it in one transaction: positions with what they cost, the ledger with what is held, stops that are owed,
// and the action's own state. Quantities move by fills at price zero, so that whoever counts fills counts the action too; a fraction of a lot is a fill
// at the price of the moment.
import * as decimal from "../../../contracts/src/decimal.ts";
import { Fault } from "../../../contracts/src/fault.ts";
import { format } from "../../../contracts/src/instant.ts";
import type { ActionLeg } from "../../../contracts/src/records/corporate-action.ts";
import type { LedgerPosting } from "../../../contracts/src/records/ledger.ts";
import type { Instrument } from "../../../contracts/src/records/market.ts";
import type { Fill } from "../../../contracts/src/records/order.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import {
  type Allotted,
  allot,
  pricesAfter,
  reissued,
  requantified,
  scaled,
} from "../../../core/ledger/corporate-actions.ts";
import { fillEntry, movesOf, positionAccount } from "../../../core/ledger/ledger.ts";
import { bookTrade } from "../../../core/ledger/position.ts";
import type { StoredPosition } from "../../../ports/oms-records.ts";
import { rememberedPrices } from "../../shared/remembered-prices.ts";
import { bookedPosition } from "../booking.ts";
import { hexOf } from "../slicing.ts";
import type { Applying } from "./applying.ts";
import { renameReference } from "./rename-reference.ts";

/** How records name who books. */
const bookedBy = "service:oms";

/** Books it; gives the ids of its fills. */
export async function applyAction(applying: Applying): Promise<readonly string[]> {
  const { unit, action } = applying;
  const fills: Fill[] = [];
  for (const leg of action.legs) {
    const held = (await unit.oms.positions()).filter(
      ({ symbol, quantity }) => symbol === leg.symbol && quantity !== decimal.zero,
    );
    for (const fundId of [...new Set(held.map((one) => one.fundId))].sort()) {
      const own = held.filter((one) => one.fundId === fundId);
      fills.push(...(await applyToFund(applying, leg, fundId, own)));
    }
    await adjustStops(applying, leg);
  }
  await renameReference(applying);
  return fills.map(({ fill_id: id }) => id);
}

async function applyToFund(
  applying: Applying,
  leg: ActionLeg,
  fundId: string,
  held: readonly StoredPosition[],
): Promise<readonly Fill[]> {
  const instrument = instrumentOf(applying, leg.symbol);
  const allotted = allot(
    held.map(({ quantity }) => quantity),
    leg.quantity,
    decimal.parse(instrument.lot_size),
  );
  const hasFractions = allotted.some(({ exact, whole }) => exact !== whole);
  const price = hasFractions ? await priceInLieu(applying, leg, fundId) : decimal.zero;
  const fills: Fill[] = [];
  for (const [index, position] of held.entries()) {
    const share = allotted[index];
    if (share !== undefined) fills.push(...(await applyToPosition(applying, leg, position, share, price)));
  }
  return fills;
}

/** The last price at which the fund was valued, in the new terms: what the fraction is worth in its value. */
async function priceInLieu({ unit }: Applying, leg: ActionLeg, fundId: string): Promise<decimal.Decimal> {
  const valued = rememberedPrices(await unit.ledger.lockFund(fundId)).get(leg.symbol);
  if (valued === undefined) {
    const sentence = `${fundId} was not valued with ${leg.symbol} yet, so a fraction of it cannot be paid for.`;
    throw new Fault("NOT_FOUND", sentence, { retry: "later" });
  }
  const now = pricesAfter(new Map([[leg.symbol, valued]]), await unit.corporateActions.applied()).get(leg.symbol);
  return scaled(now?.price ?? decimal.zero, leg.price);
}

async function applyToPosition(
  applying: Applying,
  leg: ActionLeg,
  before: StoredPosition,
  { exact, whole }: Allotted,
  price: decimal.Decimal,
): Promise<readonly Fill[]> {
  const { unit, at } = applying;
  const held = await unit.oms.lockPosition(before.fundId, before.strategyId, before.symbol);
  if (held === undefined || held.quantity !== before.quantity) throw moved(before);
  if (leg.new_symbol !== leg.symbol) return renamePosition(applying, leg, held, whole);
  const instrument = instrumentOf(applying, leg.symbol);
  const fills: Fill[] = [];
  const change = decimal.subtract(exact, held.quantity);
  if (change !== decimal.zero) {
    fills.push(fillOf(applying, held, "CORPORATE_ACTION", change, decimal.zero));
  }
  let position = requantified(bookedPosition(held), exact);
  const fraction = decimal.subtract(whole, exact);
  if (fraction !== decimal.zero) {
    const fill = fillOf(applying, held, "CASH_IN_LIEU", fraction, price);
    const [quantity, multiplier] = [decimal.abs(fraction), decimal.parse(instrument.multiplier)];
    position = bookTrade(position, { fillId: fill.fill_id, side: fill.side, quantity, price, multiplier });
    fills.push(fill);
  }
  await unit.oms.putPosition({ ...held, ...position, updatedAt: at });
  for (const fill of fills) await bookFill(applying, fill, instrument);
  return fills;
}

/** The opening goes on under the new name, with what it cost and what was won by it so far: a fill takes it from the one and another gives it to the other. */
async function renamePosition(
  applying: Applying,
  leg: ActionLeg,
  held: StoredPosition,
  quantity: decimal.Decimal,
): Promise<readonly Fill[]> {
  const { unit, at } = applying;
  const { fundId, strategyId } = held;
  const instrument = instrumentOf(applying, leg.symbol);
  const [symbol, was] = [leg.new_symbol, await unit.oms.lockPosition(fundId, strategyId, leg.new_symbol)];
  if (was !== undefined && was.quantity !== decimal.zero) throw moved(was);
  const position = reissued(bookedPosition(held), leg, quantity, decimal.parse(instrument.multiplier));
  const realisedPnl = decimal.add(position.realisedPnl, was?.realisedPnl ?? decimal.zero);
  const zeros = { quantity: decimal.zero, cost: decimal.zero, averagePrice: decimal.zero, realisedPnl: decimal.zero };
  await unit.oms.putPosition({ ...held, ...zeros, updatedAt: at });
  await unit.oms.putPosition({ ...held, ...position, symbol, realisedPnl, updatedAt: at });
  const taken = fillOf(applying, held, "CORPORATE_ACTION", decimal.negate(held.quantity), decimal.zero);
  const given = fillOf(applying, { ...held, symbol }, "CORPORATE_ACTION", quantity, decimal.zero, leg.symbol);
  await bookFill(applying, taken, instrument);
  await bookFill(applying, given, instrument, await carriedCost(applying, leg, fundId));
  return [taken, given];
}

/** What the fund paid for the old symbol stands with the new one; nothing is left of it for the fund's next strategy. */
async function carriedCost({ unit }: Applying, leg: ActionLeg, fundId: string): Promise<readonly LedgerPosting[]> {
  const balances = await unit.ledger.balances();
  return balances
    .filter(
      (one) => one.fundId === fundId && one.account === positionAccount(leg.symbol) && one.amount !== decimal.zero,
    )
    .flatMap(({ account, currency, amount }) => [
      { account, currency, amount: decimal.negate(amount) },
      { account: positionAccount(leg.new_symbol), currency, amount },
    ]);
}

/** As every other fill; the ledger has it at once, so that a fund is never valued with half of an action. */
async function bookFill(
  { unit }: Applying,
  fill: Fill,
  instrument: Instrument,
  postings: readonly LedgerPosting[] = [],
): Promise<void> {
  const kept = await unit.oms.insertFill(fill);
  if (kept === false) throw new Fault("STORE_CONFLICT", `the fill ${fill.fill_id} is known`, { retry: "later" });
  const booked = fillEntry(fill, instrument, { entryId: `fill:${fill.fill_id}`, bookedBy });
  const entry = { ...booked, postings: [...booked.postings, ...postings] };
  await unit.ledger.book(entry, movesOf(entry));
  await unit.events.publish(subjects.fillsCreated, kept);
}

function fillOf(
  { ports, action, at }: Applying,
  { fundId, strategyId, symbol }: StoredPosition,
  kind: "CORPORATE_ACTION" | "CASH_IN_LIEU",
  change: decimal.Decimal,
  price: decimal.Decimal,
  /** Which it was before: a series may get the name that another one gives up. */
  ...was: readonly string[]
): Fill {
  const name = JSON.stringify([action.actionId, action.announcedAt, fundId, strategyId, symbol, kind, ...was]);
  const id = `action-${hexOf(ports.sha256(name)).slice(0, 32)}`;
  return {
    fill_id: id,
    order_id: id,
    fund_id: fundId,
    strategy_id: strategyId,
    symbol,
    side: decimal.sign(change) === 1 ? "BUY" : "SELL",
    quantity: decimal.format(decimal.abs(change)),
    price: decimal.format(price),
    broker: "paper",
    filled_at: format(at),
    kind,
  };
}

/** Exits that are owed go on in the new terms. */
async function adjustStops({ unit }: Applying, leg: ActionLeg): Promise<void> {
  for (const owed of (await unit.stops.owed()).filter(({ symbol }) => symbol === leg.symbol)) {
    const stop = await unit.stops.lock(owed.stopId);
    if (stop === undefined || stop.ended !== undefined) continue;
    const priced = (price: decimal.Decimal): decimal.Decimal => scaled(price, leg.price);
    await unit.stops.update({
      ...stop,
      symbol: leg.new_symbol,
      quantity: scaled(stop.quantity, leg.quantity),
      basisPrice: priced(stop.basisPrice),
      triggerPrice: priced(stop.triggerPrice),
      observedPrice: priced(stop.observedPrice),
    });
  }
}

function instrumentOf({ instruments }: Applying, symbol: string): Instrument {
  const found = instruments.get(symbol);
  if (found === undefined)
    throw new Fault("NOT_FOUND", `The reference data does not have ${symbol}.`, { retry: "later" });
  return found;
}

function moved({ fundId, strategyId, symbol }: StoredPosition): Fault {
  return new Fault("STORE_CONFLICT", `the position of ${strategyId} of ${fundId} in ${symbol} moved`, { retry: "now" });
}

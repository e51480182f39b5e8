// Fills move what the paper treasury holds: the position by the quantity, the cash by what it cost and by the fee. Only paper funds
// are booked here; the books of a live fund are its own treasury's.
import * as decimal from "../../contracts/src/decimal.ts";
import { Fault } from "../../contracts/src/fault.ts";
import type { Instrument } from "../../contracts/src/records/market.ts";
import type { Fill } from "../../contracts/src/records/order.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Subscription } from "../../ports/bus.ts";
import type { ServicePorts } from "../service.ts";
import type { ReferenceReader, ReferenceView } from "./reference-view.ts";
import { cost, type Holding } from "./valuation.ts";

/** The cursor's name, and what handled fills are remembered under. */
export const fillsSubscription = "treasury.fills";

export function bookFills(ports: Pick<ServicePorts, "bus" | "store">, reader: ReferenceReader): Promise<Subscription> {
  return ports.bus.subscribe({ name: fillsSubscription, subjects: [subjects.fillsCreated.name] }, async (event) => {
    const fill = event.payload as Fill;
    // A fund or an instrument that is not known yet may have been set a moment ago.
    const view = knows(reader.current(), fill) ? reader.current() : await reader.refresh();
    const fund = view.funds.get(fill.fund_id);
    const instrument = view.instruments.get(fill.symbol);
    if (fund === undefined || instrument === undefined) throw unknown(fill);
    if (fund.mode !== "PAPER") return;
    await ports.store.transact("treasury.fill", async (unit) => {
      // By the fill and not by the event: the same fill_id twice is one fill, whoever publishes it again.
      if (!(await unit.handled.firstTime(fillsSubscription, fill.fill_id))) return;
      for (const { symbol, quantity } of legsOf(fill, instrument)) {
        await unit.treasury.add(fill.fund_id, symbol, quantity);
      }
    });
  });
}

function knows(view: ReferenceView, fill: Fill): boolean {
  return view.funds.has(fill.fund_id) && view.instruments.has(fill.symbol);
}

function unknown(fill: Fill): Fault {
  const sentence = `The fill ${fill.fill_id} is of a fund or an instrument that the reference data does not have.`;
  return new Fault("NOT_FOUND", sentence, {
    retry: "later",
    facts: { fund_id: fill.fund_id, symbol: fill.symbol },
  });
}

/** What a fill adds to each holding. */
export function legsOf(fill: Fill, instrument: Instrument): readonly Holding[] {
  const buys = fill.side === "BUY" || fill.side === "BUY_TO_COVER";
  const size = decimal.parse(fill.quantity);
  const quantity = buys ? size : decimal.negate(size);
  const paid = cost(quantity, instrument.multiplier, decimal.parse(fill.price));
  const legs: Holding[] = [
    { symbol: fill.symbol, quantity },
    { symbol: instrument.currency, quantity: decimal.negate(paid) },
  ];
  if (fill.fee !== undefined) {
    legs.push({ symbol: fill.currency ?? instrument.currency, quantity: decimal.negate(decimal.parse(fill.fee)) });
  }
  return legs;
}

// Whether an event of a foreign system may enter: whom and what it is about must be known, and its figures possible. What is refused never reaches the
// books; it uses up its number like any other, because its publisher did send it.
import * as decimal from "../../contracts/src/decimal.ts";
import type { NavUpdated } from "../../contracts/src/records/fund.ts";
import type { BookedFill, Fill, FillBusted, OrderCreated, OrderTransition } from "../../contracts/src/records/order.ts";
import { type FundReference, valuerOf } from "../../contracts/src/records/reference.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { type BustStanding, refusedBust } from "./judge-bust.ts";
import { changedFill } from "./judge-fill-id.ts";
import { type OrderStanding, refusedOrder } from "./judge-order.ts";
import type { ForeignKind } from "./numbering.ts";
import type { Refusal } from "./refusal.ts";

const ofOrders: ReadonlySet<string> = new Set(
  [
    subjects.ordersCreated,
    subjects.ordersAccepted,
    subjects.ordersRejected,
    subjects.ordersUpdated,
    subjects.ordersCancelled,
    subjects.ordersExpired,
  ].map(({ name }) => name),
);

/** What a foreign system may publish and numbers; undefined for prices and for what is not its business. */
export function foreignKindOf(subject: string): ForeignKind | undefined {
  if (ofOrders.has(subject)) return "orders";
  if (subject === subjects.fillsCreated.name || subject === subjects.fillsBusted.name) return "fills";
  return subject === subjects.navUpdated.name ? "values" : undefined;
}

/** Whose events of that kind are on NATS: the login that alone may publish them there. */
export function natsSourceOf(kind: ForeignKind): "foreign-oms" | "foreign-treasury" {
  return kind === "values" ? "foreign-treasury" : "foreign-oms";
}

/** What the reference data has. */
export interface KnownReference {
  fund(fundId: string): Pick<FundReference, "currency" | "strategies" | "mode" | "valued_by"> | undefined;
  /** Of an instrument; undefined when there is none. */
  currencyOf(symbol: string): string | undefined;
}

/** An event whose payload matched the schema of its subject. */
export interface ForeignEvent {
  readonly subject: string;
  readonly payload: unknown;
  /** Who published it, as it was proved: the token's name over gRPC, the login's over NATS. */
  readonly source: string;
  /** The login under which it came, where a token speaks through it: a fund that names the login means it still. */
  readonly numberedBy?: string | undefined;
}

type Numbered = Fill | FillBusted | OrderCreated | OrderTransition | NavUpdated;

/** The fund and the number of an event that is numbered. */
export function numberOf({ payload }: Omit<ForeignEvent, "source">): {
  readonly fundId: string;
  readonly sequence: number | undefined;
} {
  const { fund_id: fundId, sequence } = payload as Numbered;
  return { fundId, sequence };
}

/**
 * What is known of the order and the fill that an event is about: whose the order is, the fill that the books have under the same id, or all that a bust is
 * judged by.
 */
export interface EventStanding {
  readonly order?: OrderStanding | undefined;
  readonly booked?: BookedFill | undefined;
  readonly bust?: BustStanding | undefined;
}

/** Undefined when it may enter. */
export function refusalOf(
  event: ForeignEvent,
  known: KnownReference,
  { order, booked, bust }: EventStanding = {},
): Refusal | undefined {
  const kind = foreignKindOf(event.subject);
  if (kind === undefined) return undefined;
  if (kind === "values") return refusedValue(event.payload as NavUpdated, event, known);
  const traded = event.payload as OrderCreated | OrderTransition | Fill | FillBusted;
  const refusal =
    refusedTrade(traded, known) ?? (order === undefined ? undefined : refusedOrder(traded.order_id, order));
  if (refusal !== undefined || kind === "orders") return refusal;
  if (event.subject === subjects.fillsBusted.name) {
    const busted = event.payload as FillBusted;
    return bust === undefined ? undefined : refusedBust(busted, bust);
  }
  const fill = event.payload as Fill;
  return refusedCurrency(fill, known) ?? refusedPrice(fill) ?? changedFill(fill, booked, event);
}

function refusedTrade(
  { fund_id: fundId, strategy_id: strategyId, symbol }: Pick<Fill, "fund_id" | "strategy_id" | "symbol">,
  known: KnownReference,
): Refusal | undefined {
  const fund = known.fund(fundId);
  if (fund === undefined) return unknownFund(fundId);
  if (known.currencyOf(symbol) === undefined) return unknownSymbol(symbol);
  if (fund.strategies.includes(strategyId)) return undefined;
  const sentence = `The fund ${fundId} has no strategy ${quoted(strategyId)}. Set it (ctl treasury reference set funds) or publish the event again with the right strategy.`;
  return { code: "EVENT_STRATEGY_UNKNOWN", sentence };
}

/** Of an order event, a fill or a price. */
export function unknownSymbol(symbol: string): Refusal {
  const sentence = `There is no instrument ${quoted(symbol)}. Set it (ctl treasury reference set instruments) or publish the event again with the right symbol.`;
  return { code: "EVENT_SYMBOL_UNKNOWN", sentence };
}

/** Of a price; what a person would set is said. */
export function priceNotYours(symbol: string, whose: readonly string[]): Refusal {
  const sentence = `Prices of ${symbol} count from ${whose.join(", then ")}, so this one does not. Who sets reference data can name sources in priced_by of the instrument or its venue (ctl treasury reference set --kind instruments).`;
  return { code: "EVENT_PRICE_NOT_YOURS", sentence };
}

function unknownFund(fundId: string): Refusal {
  const sentence = `There is no fund ${quoted(fundId)}. Set it (ctl treasury reference set funds) or publish the event again with the right fund.`;
  return { code: "EVENT_FUND_UNKNOWN", sentence };
}

function refusedValue(
  { fund_id: fundId, currency }: NavUpdated,
  { source, numberedBy }: Pick<ForeignEvent, "source" | "numberedBy">,
  known: KnownReference,
): Refusal | undefined {
  const fund = known.fund(fundId);
  if (fund === undefined) return unknownFund(fundId);
  const valuer = valuerOf(fund);
  if (valuer === undefined || (valuer !== source && valuer !== numberedBy)) return valueNotYours(fundId, valuer);
  if (fund.currency === currency) return undefined;
  const sentence = `The fund ${fundId} is valued in ${fund.currency}, and the value is in ${currency}. Publish it again in ${fund.currency}.`;
  return { code: "EVENT_CURRENCY_WRONG", sentence };
}

function valueNotYours(fundId: string, valuer: string | undefined): Refusal {
  const whose = valuer === undefined ? "The fund names no source of its values" : `${fundId} is valued by ${valuer}`;
  const sentence = `${whose}, so this value does not count. Who sets reference data can name another source in the fund's valued_by (ctl treasury reference set --kind funds).`;
  return { code: "EVENT_VALUE_NOT_YOURS", sentence };
}

function refusedCurrency({ fill_id: id, symbol, currency }: Fill, known: KnownReference): Refusal | undefined {
  const traded = known.currencyOf(symbol);
  if (currency === undefined || currency === traded) return undefined;
  const sentence = `${symbol} is traded in ${traded}, and fill ${id} is in ${currency}. Publish it again in ${traded}.`;
  return { code: "EVENT_CURRENCY_WRONG", sentence };
}

/** An option that ended without value settles at zero, and a split moves shares at none. */
const pricedAtZero: ReadonlySet<string> = new Set(["CORPORATE_ACTION", "CASH_IN_LIEU", "SETTLEMENT"]);

function refusedPrice({ fill_id: id, price, kind = "TRADE" }: Fill): Refusal | undefined {
  const given = decimal.parse(price);
  if (given > decimal.zero || (given === decimal.zero && pricedAtZero.has(kind))) return undefined;
  const sentence = `The price of fill ${id} is ${decimal.format(given)}, and it must be above zero. Publish it again with its price.`;
  return { code: "EVENT_PRICE_IMPOSSIBLE", sentence };
}

/** A market price is judged where it is heard, and never stored. */
export function impossiblePrice(symbol: string, price: string): string {
  return `The price of ${symbol} is ${price}, and it must be above zero. The one before counts on until it is stale.`;
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 128));
}

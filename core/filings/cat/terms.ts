// The terms of an order in CAT's words.
import { nextClose, wallClock } from "../../../contracts/src/calendar.ts";
import { usEquities } from "../../../contracts/src/calendars.ts";
import { formatDate, type Instant, tryParse } from "../../../contracts/src/instant.ts";
import type { FiledOrder } from "../../../contracts/src/records/filing.ts";
import { easternDate } from "../eastern-time.ts";
import type { RegulatoryEvent } from "../regulatory-event.ts";
import type { CatFields, CatValue } from "./fields.ts";

const equitySides = { BUY: "B", BUY_TO_COVER: "B", SELL: "SL", SELL_SHORT: "SS" } as const;
const optionSides = { BUY: "B", BUY_TO_COVER: "B", SELL: "S", SELL_SHORT: "S" } as const;
const openings = { BUY: "Open", SELL_SHORT: "Open", SELL: "Close", BUY_TO_COVER: "Close" } as const;
const optionName = /^([A-Z0-9]{1,6}) *([0-9]{6}[CP][0-9]{8})$/;
const rootLength = 6;

export function isOption({ asset_class }: FiledOrder): boolean {
  return asset_class === "OPTION";
}

export function sideOf(order: FiledOrder): string {
  return isOption(order) ? optionSides[order.side] : equitySides[order.side];
}

/** Of the option, or of the share, as CAT names it. */
export function instrumentOf(order: FiledOrder): CatFields {
  return isOption(order) ? { optionID: optionId(order.symbol) } : { symbol: order.symbol };
}

/** 21 characters: the root padded to six, the date, the right and the strike. */
function optionId(symbol: string): string | undefined {
  const [, root, rest] = optionName.exec(symbol) ?? [];
  return root === undefined || rest === undefined ? undefined : `${root.padEnd(rootLength)}${rest}`;
}

/** Side, price, quantity, type, validity and session. */
export function termsOf({ order, details, at }: RegulatoryEvent): CatFields {
  const isLimit = order.order_type === "LIMIT" || order.order_type === "STOP_LIMIT";
  return {
    side: sideOf(order),
    price: isLimit ? numberOf(order.limit_price) : undefined,
    quantity: numberOf(order.quantity),
    orderType: isLimit ? "LMT" : "MKT",
    timeInForce: validityOf(order, at),
    tradingSession: details.trading_session ?? "REG",
    handlingInstructions: instructionsOf(order),
  };
}

export function openCloseOf({ order, details }: RegulatoryEvent): string {
  return details.open_close ?? openings[order.side];
}

export function numberOf(text: string | undefined): CatValue | undefined {
  return text === undefined ? undefined : { number: text };
}

function validityOf(order: FiledOrder, at: Instant): CatValue | undefined {
  switch (order.tif) {
    case "DAY":
      return { pairs: { DAY: { date: sessionDate(at) } } };
    case "GTC":
      return { pairs: { GTC: true } };
    case "GTD": {
      const until = tryParse(order.expires_at ?? "");
      return until === undefined ? undefined : { pairs: { GTT: { time: until } } };
    }
    default:
      return { pairs: { IOC: true } };
  }
}

/** The date of the session in which an order of that moment works: after the close it is the next one's. */
function sessionDate(at: Instant): string {
  const close = nextClose(usEquities, at);
  return close === undefined ? easternDate(at) : formatDate(wallClock(usEquities, close).date);
}

function instructionsOf(order: FiledOrder): CatValue | undefined {
  const isStop = order.order_type === "STOP" || order.order_type === "STOP_LIMIT";
  const pairs = {
    ...(order.tif === "FOK" && { FOK: true as const }),
    ...(isStop && order.stop_price !== undefined && { STOP: { number: order.stop_price } }),
  };
  return Object.keys(pairs).length === 0 ? undefined : { pairs };
}
